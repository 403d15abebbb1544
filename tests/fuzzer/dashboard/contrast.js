// Text of the page whose contrast to what is behind it is below WCAG's 4.5 to 1, as a list of sentences.
(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const probe = document.body.appendChild(document.createElement("p"));
  probe.style.background = "Canvas";
  const canvasColor = rgba(getComputedStyle(probe).backgroundColor);
  probe.remove();
  const light = ([r, g, b]) => {
    const part = (c) => ((c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const back = rgba(getComputedStyle(at).backgroundColor);
      if (at.matches(".graph g")) {
        const fill = getComputedStyle(at.querySelector(".shape")).fill;
        if (fill !== "none") return rgba(fill);
      }
      if (back[3] === 255) return back;
    }
    return canvasColor;
  };
  const bad = [];
  for (const element of document.querySelectorAll("main *, header *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.getClientRects().length || element.closest("select, title")) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(rgba(element.closest("svg") ? style.fill : style.color)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${element.tagName} ${element.textContent.slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  return bad;
})()
