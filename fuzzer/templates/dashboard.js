"use strict";
// Everything is made as elements and text: nothing that a finding says is ever read as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function shape(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const number = (value) => value.toLocaleString("en");
const moment = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
const percent = (part, whole) => `${Math.round((100 * part) / whole)}%`;

function span(seconds) {
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const first = units.findIndex(([, size]) => seconds >= size);
  if (first < 0) return "0 s";
  const [name, size] = units[first];
  const rest = units[first + 1] ? Math.floor((seconds % size) / units[first + 1][1]) : 0;
  return `${Math.floor(seconds / size)} ${name}` + (rest ? ` ${rest} ${units[first + 1][0]}` : "");
}

/** Show the text between backticks as code. */
function prose(text) {
  return text.split("`").map((piece, place) => (place % 2 ? element("code", {}, piece) : piece));
}

// --- at a glance

const DAY = 86400, MOST_WAITING = 100;
const FEW = 10; // a rate of fewer says little
const isOfToday = (row) => row.found > data.made - DAY; // 0: not known
const timeOf = (found) => (found ? `${moment(found)} UTC` : "");
const rowOf = Object.fromEntries(data.findings.map((row) => [row.slug, row]));
const families = data.families.map(({ slugs, age, scope }, place) => ({ order: place, age, scope, members: slugs.map((slug) => rowOf[slug]), lead: rowOf[slugs[0]] }));
const AGES = [...new Set(families.map((family) => family.age))];
const LEVELS = ["critical", "high", "medium", "low"].filter((level) => families.some((family) => family.lead.level === level));
const familyOf = Object.fromEntries(families.flatMap((family) => family.members.map((row) => [row.slug, family])));
const testsOf = (family) => family.members.reduce((sum, row) => sum + row.seen, 0);
const firstOf = (family) => family.members.map((row) => row.found).filter(Boolean).sort((a, b) => a - b)[0] ?? 0;
const blameOf = (row) => [row.component, row.place, row.culprit || row.operator].filter(Boolean).join(", ");
const titleOf = (row) => row.title.replaceAll("`", "");

function tiles() {
  const flaky = data.findings.filter((row) => row.flaky).length;
  const duplicates = data.findings.reduce((sum, row) => sum + row.duplicates.length, 0);
  const kept = data.findings.filter((row) => row.apart).length;
  const findingsOf = (causes) => causes.reduce((sum, row) => sum + row.findings, 0);
  const others = findingsOf(data.causes.other_confirmed), shipped = findingsOf(data.causes.confirmed.filter((row) => row.known));
  const apart = [[shipped, "ship with difftvm"], [flaky, "flaky"], [others, "not TVM's"], [kept, "known or unspecified"], [duplicates, "more are duplicates"]].filter(([count]) => count);
  const together = data.campaigns > 1 ? `, of ${number(data.campaigns)} campaigns` : "";
  const told = [
    ["Findings", number(findingsOf(data.causes.confirmed) - shipped), apart.map(([count, what]) => `${number(count)} ${what}`).join(", ")],
    ["Sightings waiting", number(data.waiting), `for triage, which has had ${Math.round(100 * data.triage_used)} % of the CPU${data.parked ? `; ${number(data.parked)} parked` : ""}`],
    ["Tests", number(data.tests), `${number(data.lane_results)} lane results${together}`],
    ["Time", span(data.wall_seconds), `${span(data.cpu_seconds)} of CPU${together}`],
    ...(rate() || !data.origins.length ? [["Tests a second", rate().toFixed(2), "of the last hour"]] : []),
    ...(data.features ? [["Behaviours", number(data.features), "of TVM and of cases, each counted once"]] : []),
    ...(data.lanes.length || !data.origins.length ? [["Lanes", number(data.lanes.length), `${data.failing.length || "none"} suddenly without results`]] : []),
  ];
  const [confirmed, waiting] = data.counts;
  byId("counts").append(`${confirmed[0].toUpperCase()}${confirmed.slice(1)}`, ...(waiting ? ["; ", element("a", { href: "#provisional" }, waiting)] : []));
  for (const [name, value, more] of told)
    byId("tiles").append(element("div", {}, element("dt", {}, name), element("dd", {}, value, element("small", {}, more))));
  if (data.failing.length)
    byId("alarms").append(element("p", {}, element("span", { class: "bad" }, "Lanes fail: "), data.failing.join(", ")));
  byId("made").textContent = moment(data.made) + " UTC";
  const notes = [`Folder ${data.folder}.`];
  for (const [name, seed, tests] of data.origins) notes.push(`Merged: ${number(tests)} tests of seed ${seed} (${name.slice(0, 12)}).`);
  if (data.more_origins) notes.push(`And ${number(data.more_origins)} more.`);
  for (const reason of data.unreadable) notes.push(`Not shown: ${reason}`);
  byId("foot").textContent = notes.join(" ");
}

/** The causes that are not confirmed yet, the most severe first. */
function waiting() {
  const rows = data.causes.provisional.slice(0, MOST_WAITING);
  const about = (row) => cell(element("div", {}, ...prose(row.title)), element("div", { class: "quiet" }, row.message), element("div", { class: "quiet" }, row.suspect), element("code", {}, row.replay));
  if (!rows.length) byId("waiting").append(element("caption", { class: "quiet" }, "Nothing waits for triage."));
  else fillTable(byId("waiting"), ["Sightings", "Kind", "What was seen"], rows.map((row) => [numberCell(row.sightings), cell(row.kind), about(row)]));
  const more = data.causes.provisional.length - rows.length;
  const others = [...new Set([...data.causes.other_confirmed, ...data.causes.other_provisional].map((row) => row.component))];
  const found = data.causes.other_confirmed.reduce((sum, row) => sum + row.findings, 0);
  const told = [more > 0 && `${number(more)} more causes are not shown: fuzz triage --all lists them.`, others.length && `Not TVM's (${others.join(", ")}): ${[[found, "findings"], [data.other_waiting, "sightings"]].filter(([count]) => count).map(([count, what]) => `${number(count)} ${what}`).join(", ")}.`];
  byId("others").textContent = told.filter(Boolean).join(" ");
}

function rate() {
  const last = data.curve.at(-1);
  if (!last) return 0;
  const first = data.curve.find(([seconds]) => seconds >= last[0] - 3600);
  return last[0] > first[0] ? (last[1] - first[1]) / (last[0] - first[0]) : 0;
}

// --- the table of causes

const keys = {
  severity: (family) => -family.order,
  title: (family) => titleOf(family.lead),
  findings: (family) => family.members.length,
  seen: (family) => testsOf(family),
  found: (family) => firstOf(family),
};
const filters = ["words", "age", "level", "state", "component", "kind", "of-operator", "place", "lane", "release"].map(byId);
const PLAIN = { state: "listed", component: data.findings.some((row) => row.component === "tvm") ? "tvm" : "" }; // what a filter has at first; the others have ""
let order = { key: "severity", descending: true };
let inList = []; // the causes that the list shows

function fillFilters() {
  const offer = (id, values) => byId(id).append(...values.filter(Boolean).map((value) => element("option", {}, value)));
  const all = (values) => [...new Set(values)].sort();
  offer("age", AGES);
  offer("level", LEVELS);
  offer("component", all(data.findings.map((row) => row.component)));
  offer("kind", all(data.findings.map((row) => row.kind)));
  offer("of-operator", all(data.findings.flatMap((row) => row.ops)));
  offer("place", all(data.findings.map((row) => row.place)));
  offer("lane", all(data.findings.flatMap((row) => row.lanes)));
  offer("release", all(data.findings.flatMap(releasesOf)));
  for (const field of filters) field.value = PLAIN[field.id] ?? "";
}

/** What is known of the releases of a finding, in the words of the filter. */
function releasesOf(row) {
  return [
    ...row.releases.filter(([, verdict]) => verdict === "fails").map(([release]) => `fails in ${release}`),
    row.introduced && `new in ${row.introduced}`, row.introduced_by && `introduced by ${row.introduced_by}`, row.fixed && `fixed in ${row.fixed}`,
  ].filter(Boolean);
}

const STATES = {
  listed: (row) => !row.apart,
  today: isOfToday,
  unfiled: (row) => !row.apart && !row.issue,
  filed: (row) => Boolean(row.issue),
  flaky: (row) => row.flaky,
};

function wanted(row) {
  const [words, age, level, state, component, kind, operator, place, lane, release] = filters.map((field) => field.value);
  const text = [row.slug, titleOf(row), blameOf(row), row.operator, row.evidence, row.detail?.needs, row.detail?.log.text, ...row.ops].join(" ").toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word))
    && (!age || familyOf[row.slug].age === age)
    && (!level || familyOf[row.slug].lead.level === level)
    && (!state || (STATES[state] ? STATES[state](row) : row.apart === state))
    && (!component || row.component === component) && (!kind || row.kind === kind)
    && (!operator || row.ops.includes(operator)) && (!place || row.place === place)
    && (!lane || row.lanes.includes(lane)) && (!release || releasesOf(row).includes(release));
}

function showRows() {
  const key = keys[order.key];
  const compare = (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (order.descending ? -1 : 1);
  inList = families.filter((family) => family.members.some(wanted)).sort(compare);
  for (const body of document.querySelectorAll("#rows tbody")) body.remove();
  byId("rows").append(...bodies());
  byId("shown").textContent = `${number(inList.length)} of ${number(families.length)} causes`;
  const set = filters.slice(1).filter((field) => field.value !== (PLAIN[field.id] ?? "")).length;
  byId("more-filters").textContent = set ? `Filters: ${set} set` : "Filters";
  byId("nothing").replaceChildren(...(inList.length ? [] : nothing()));
  showDetail();
}

const grouped = () => order.key === "severity" && order.descending;

/** The rows, in groups by age where the list has its usual order. */
function bodies() {
  const groups = grouped() ? AGES.map((age) => [age, inList.filter((family) => family.age === age)]).filter(([, some]) => some.length) : [["", inList]];
  return groups.map(([age, some]) => {
    const heading = age && AGES.length > 1 ? [element("tr", { class: "group" }, element("th", { colspan: "5", scope: "rowgroup" }, `${age}: ${number(some.length)} ${some.length === 1 ? "cause" : "causes"}`))] : [];
    return element("tbody", {}, ...heading, ...some.map(tableRow));
  });
}

/** Why the list is empty. */
function nothing() {
  if (!families.length) return ["There is no finding yet."];
  const words = byId("words").value.trim();
  const button = element("button", { type: "button" }, "Show all");
  button.addEventListener("click", showAll);
  return [words ? `No cause fits "${words}"` : "No cause fits", byId("more-filters").textContent === "Filters" ? ". " : " and the filters. ", button];
}

function showAll() {
  for (const field of filters) field.value = PLAIN[field.id] ?? "";
  showRows();
}

function tag(text, more = "") {
  return element("span", { class: `tag ${more}` }, text);
}

function tableRow(family) {
  const lead = family.lead;
  const name = element("td", {}, element("a", { href: `#family/${lead.slug}` }, ...prose(lead.title)));
  if (family.age.startsWith("new") && !grouped()) name.append(tag("new"));
  if (lead.flaky) name.append(tag("flaky"));
  if (family.members.some((row) => row.issue)) name.append(tag("filed", "good"));
  if (lead.apart) name.append(tag(lead.apart, "quiet"));
  const where = [lead.component === "tvm" ? "" : lead.component, lead.place, titleOf(lead).includes(lead.culprit) ? "" : lead.culprit];
  name.append(element("div", { class: "quiet where" }, where.filter(Boolean).join(", ")));
  return element("tr", { "data-slug": lead.slug }, element("td", {}, tag(lead.level, lead.level)), name,
    element("td", { class: "number" }, number(family.members.length)), element("td", { class: "number" }, number(testsOf(family))),
    element("td", { title: timeOf(firstOf(family)) }, firstOf(family) ? moment(firstOf(family)).slice(5) : ""));
}

function sortBy(event) {
  const key = event.currentTarget.dataset.key;
  const first = key !== "title"; // the worst, the largest and the newest first
  order = { key, descending: order.key === key ? !order.descending : first };
  for (const head of document.querySelectorAll("#rows thead th")) {
    const mine = head.firstElementChild.dataset.key === key;
    head.setAttribute("aria-sort", mine ? (order.descending ? "descending" : "ascending") : "none");
  }
  showRows();
}

// --- one cause, or one finding of several

let chosen; // the finding that the user has opened
let alone = false; // whether it is shown without its cause
let open = {}; // what is shown: a finding, and whether alone

function mark() {
  for (const row of document.querySelectorAll("#rows tr[data-slug]")) {
    const mine = open.row && row.dataset.slug === familyOf[open.row.slug].lead.slug;
    row.classList.toggle("chosen", mine);
    if (mine) row.querySelector("a").setAttribute("aria-current", "true");
    else row.querySelector("a").removeAttribute("aria-current");
  }
}

/** Show what the user has opened, or the first cause where the list does not have it. */
function showDetail() {
  const kept = chosen && inList.includes(familyOf[chosen.slug]);
  const now = { row: kept ? chosen : inList[0]?.lead, alone: Boolean(kept && alone) };
  if (now.row !== open.row || now.alone !== open.alone) {
    open = now;
    byId("detail").replaceChildren(...(!open.row ? [] : open.alone ? findingPage(open.row) : familyPage(familyOf[open.row.slug])));
    const drawn = document.querySelector(".graph");
    if (drawn) drawn.scrollLeft = (drawn.scrollWidth - drawn.clientWidth) / 2;
  }
  mark();
}

/** Show what the address names, also in the list, and move the focus to it. */
function follow() {
  const [, how, slug] = location.hash.match(/^#(family|finding)\/(.*)$/) ?? [];
  const row = how && rowOf[decodeURIComponent(slug)];
  if (!row) return;
  chosen = row;
  alone = how === "finding" && familyOf[row.slug].members.length > 1;
  const isInList = () => inList.includes(familyOf[row.slug]);
  if (!isInList()) showAll();
  if (!isInList()) {
    byId("state").value = byId("component").value = "";
    showRows();
  }
  showDetail();
  const list = document.querySelector(".list"), marked = list.querySelector(".chosen");
  const [top, bottom] = [marked.offsetTop, marked.offsetTop + marked.offsetHeight];
  if (top < list.scrollTop + 60 || bottom > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight / 3;
  byId("detail").focus({ preventScroll: true });
  byId("detail").scrollIntoView({ block: innerWidth < 1200 ? "start" : "nearest" });
}

/** The page of a cause: what is known of all its findings together, and its most severe finding whole. */
function familyPage(family) {
  const { lead, members } = family;
  const parts = [...heading(lead)];
  if (members.length > 1) {
    const inOrder = [...members].sort((a, b) => a.found - b.found);
    parts.push(element("h4", {}, `${number(members.length)} findings, perhaps of this cause`), element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Findings of this cause" }, 
      fillTable(element("table", { class: "members listed" }), ["Finding", "Tests", "Found"], inOrder.map(memberRow))));
  }
  parts.push(...scopeTables(members.length > 1 ? "What fails and what passes, of all its findings" : "What fails and what passes", family.scope));
  return [...parts, ...details(lead, members.length > 1 ? "Its most severe finding" : "The finding")];
}

function memberRow(row) {
  const name = element("th", { scope: "row" }, element("a", { href: `#finding/${row.slug}` }, ...prose(row.title)));
  if (row.issue) name.append(tag("filed", "good"));
  if (row.detail?.needs) name.append(element("div", { class: "quiet" }, ...prose(row.detail.needs)));
  return [name, numberCell(row.seen), element("td", { title: timeOf(row.found) }, row.found ? moment(row.found).slice(5) : "")];
}

/** A time and how long ago it was; 0 where it is not known. */
function sinceThen(time) {
  return time && `${timeOf(time)} (${span(Math.max(0, data.made - time))} ago)`;
}

/** The page of one finding of several of a cause. */
function findingPage(row) {
  const family = familyOf[row.slug];
  const back = element("p", {}, "One of ", element("a", { href: `#family/${family.lead.slug}` }, `${number(family.members.length)} findings, perhaps of one cause`));
  return [back, ...heading(row), ...(row.detail ? scopeTables("What fails and what passes", row.detail.scope) : []), ...details(row, "The finding")];
}

function heading(row) {
  const it = row.detail, why = element("p", {}, tag(row.level, `${row.level} first`), ` ${row.reasons.join("; ")}`);
  if (!it) return [element("h3", {}, ...prose(row.title)), why];
  const to_look = it.to_look ? ["Condition not yet looked for: ", element("code", {}, `fuzz scope ${data.crashes}/${row.slug}`)] : [];
  const condition = it.needs ? prose(it.needs) : to_look;
  const lines = condition.length ? [element("p", { class: "condition" }, ...condition)] : [];
  return [element("h3", {}, ...prose(row.title)), why, element("p", {}, ...prose(it.summary)), ...lines, ...seen(it)];
}

/** What is right and what TVM gives, or what it says. */
function seen(it) {
  if (!it.values.length && !it.printed.text) return [];
  const parts = [element("h4", {}, "What was seen")];
  if (it.values.length) parts.push(facts(it.values));
  if (it.printed.text) parts.push(element("pre", { class: "wrapped", tabindex: "0", "aria-label": "What TVM says" }, it.printed.text));
  if (it.printed.more) parts.push(element("p", { class: "quiet" }, "The whole text stands below."));
  if (it.note) parts.push(element("p", { class: "quiet" }, ...prose(it.note)));
  return parts;
}

function scopeTables(title, scope) {
  const parts = [];
  const region = (name, table) => element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, table);
  const rows = scope.rows.map(([what, ...answers]) => [element("th", { scope: "row" }, what), ...answers.map((answer) => cell(answer))]);
  if (rows.length) parts.push(region("One thing changed", fillTable(element("table", { class: "scope listed" }), ["One thing changed", "fails", "passes", "fails in another way"], rows)));
  for (const [name, answers] of [["Similar operators", scope.siblings], ["Other routes", scope.routes]]) {
    const by = (wanted) => answers.filter(([, answer]) => answer === wanted).map(([each]) => each).join(", ");
    if (answers.length) parts.push(element("h5", {}, name), facts(["fails", "passes", "fails in another way", "is not supported"].map((answer) => [answer, by(answer)])));
  }
  return parts.length ? [element("h4", {}, title), ...parts] : [];
}

function details(row, title) {
  const whole = `${data.folder}/crashes/${row.slug}`, typed = `${data.crashes}/${row.slug}`;
  const it = row.detail;
  if (!it) return [element("p", {}, "This page holds the worst findings whole, and this is another one."), ...copyable("To see it", `fuzz report ${typed}`)];
  const parts = [element("h4", {}, title), facts([
    ["name", row.slug], ["kind", row.kind], ["component", row.component], ["lanes", row.lanes.join(", ")],
    ["confirmed", row.confirmed + (row.flaky ? ", flaky" : "")], ["seen", `in ${number(row.seen)} ${row.seen === 1 ? "test" : "tests"}`],
    ["found", sinceThen(row.found)], ["last met", sinceThen(row.last)],
    ["versions", Object.entries(row.versions).map(([name, version]) => `${name} ${version}`).join(", ")],
    ["seen on", row.machines.join(" and ")],
    ["signature", row.signature], ["same bug", row.duplicates.join(", ")],
  ])];
  parts.push(element("h4", {}, "Graph"), graph(it.graph));
  parts.push(element("h4", {}, "Blame"), facts([
    ["place", row.place || "not known"], ["at fault", row.culprit], ["operator", row.operator], ["introduced in", row.introduced],
    ["fixed in", row.fixed], ["introduced by", row.introduced_by], ["releases", row.releases.map(([release, verdict]) => `${release} ${verdict}`).join(", ")],
  ]));
  if (row.evidence && !it.summary.includes(row.evidence)) parts.push(element("p", {}, ...prose(row.evidence)));
  if (it.diff.length) {
    parts.push(element("h4", {}, it.diff.some(([name]) => name !== "same") ? "IR around the part at fault" : "IR that the part at fault gave"));
    const lines = it.diff.map(([name, line]) => element("span", { class: name }, line + "\n"));
    parts.push(element("pre", { tabindex: "0", "aria-label": "Difference of the IR" }, ...lines), rest(it.diff_more, "lines", `${whole}/ir-before.txt, ir-after.txt`));
  }
  parts.push(...copyable("Script that reproduces it", it.script.text), rest(it.script.more, "characters", `${whole}/repro.py`));
  if (it.test.text) parts.push(...copyable("Test for the pull request that fixes it", it.test.text), rest(it.test.more, "characters", `${whole}/test_regression.py`));
  parts.push(...copyable("Run it again", `fuzz --replay ${typed}`));
  parts.push(...filing(row, typed));
  parts.push(element("h4", {}, "Raw text"), element("pre", { tabindex: "0", "aria-label": "Raw text" }, it.log.text), rest(it.log.more, "characters", `${whole}/log.txt`));
  return parts;
}

/** Where the cause was filed, why it is not filed, or how to file it. */
function filing(row, typed) {
  const filed = familyOf[row.slug].members.filter((each) => each.issue);
  if (filed.length)
    return [element("h4", {}, "Filed"), ...filed.map((each) => element("p", {}, element("a", { href: each.issue.url }, each.issue.url), ` (${each.issue.state}): ${titleOf(each)}`))];
  const why = row.apart || (row.flaky && "it is flaky") || (row.component !== "tvm" && `it is the fault of ${row.component}`);
  if (why) return [element("h4", {}, "Not to be filed"), element("p", {}, `${why[0].toUpperCase()}${why.slice(1)}.`)];
  return copyable("Draft the issue; nothing is sent", `fuzz file ${typed}`);
}

function rest(count, unit, where) {
  return count ? element("p", { class: "quiet" }, `${number(count)} ${unit} more: see `, element("code", {}, where)) : "";
}

function facts(pairs) {
  const shown = pairs.filter(([, value]) => value);
  return element("dl", { class: "facts" }, ...shown.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

function copyable(title, text) {
  const shown = element("pre", { tabindex: "0", "aria-label": title }, text);
  const button = element("button", { type: "button" }, "Copy");
  button.setAttribute("aria-label", `Copy: ${title}`);
  button.addEventListener("click", async () => {
    let done = await navigator.clipboard?.writeText(text).then(() => true, () => false);
    getSelection().selectAllChildren(shown);
    done ||= document.execCommand("copy"); // if the browser does not let the page use the clipboard
    byId("live").textContent = button.textContent = done ? "Copied" : "Selected: copy it with the keyboard";
  });
  return [element("div", { class: "copying" }, element("h4", {}, title), button), shown];
}

const SMALLEST = 0.75;
const WORDS = { input: "input", param: "parameter", operator: "operator", blamed: "operator to blame", output: "output" };

function graph(it) {
  const says = it.boxes.map((box) => `${WORDS[box.sort]} ${box.label} ${box.type}`).join("; ");
  const drawn = shape("svg", { width: it.width + 8, height: it.height + 8, viewBox: `-4 -4 ${it.width + 8} ${it.height + 8}`, role: "img", "aria-label": says });
  drawn.append(shape("defs", {}, shape("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, shape("path", { d: "M0 0L8 4L0 8z", class: "arrow" }))));
  for (const points of it.lines) drawn.append(shape("path", { class: "wire", d: wire(points), "marker-end": "url(#arrow)" }));
  for (const box of it.boxes) {
    const middle = box.x + box.width / 2;
    const round = box.sort === "input" || box.sort === "param" ? box.height / 2 : 5;
    const label = box.sort === "blamed" ? `! ${box.label}` : box.label;
    drawn.append(shape("g", { class: box.sort },
      shape("title", {}, [WORDS[box.sort], box.label, box.type, box.more].filter(Boolean).join("\n")),
      shape("rect", { class: "shape", x: box.x, y: box.y, width: box.width, height: box.height, rx: round }),
      shape("text", { x: middle, y: box.y + 18 }, label), shape("text", { x: middle, y: box.y + 33, class: "type" }, box.type)));
  }
  drawn.style.minWidth = `${SMALLEST * it.width}px`; // fits if it stays legible, else scrolls
  const legend = "Round: inputs (dashed: parameters). Square: operators" + (it.boxes.some((box) => box.sort === "blamed") ? "; the one to blame has a thick border and a \"!\"." : ".");
  const more = it.left_out ? ` ${number(it.left_out)} more operators are not drawn.` : "";
  return element("figure", {}, element("div", { class: "graph", tabindex: "0", role: "region", "aria-label": "Graph" }, drawn), element("figcaption", { class: "quiet" }, legend + more));
}

/** A smooth line through the points. It leaves and enters boxes vertically. */
function wire(points) {
  let path = `M${points[0].join(" ")}`;
  for (let place = 1; place < points.length; place++) {
    const [[x, y], [toX, toY]] = [points[place - 1], points[place]];
    path += `C${x} ${(y + toY) / 2} ${toX} ${(y + toY) / 2} ${toX} ${toY}`;
  }
  return path;
}

// --- curves, lanes, support, costs, releases

const ELSEWHERE = "This campaign has run no tests of its own that could be shown here; those that were merged into it have pages that do.";

function chart(name, column) {
  const points = data.curve.map((row) => [row[0], row[column]]);
  const [width, height, left, bottom] = [420, 190, 52, 26];
  const [end, most] = [Math.max(1, points.at(-1)[0]), Math.max(1, ...points.map((point) => point[1]))];
  const x = (seconds) => left + (seconds / end) * (width - left - 12);
  const y = (value) => height - bottom - (value / most) * (height - bottom - 14);
  const last = points.at(-1)[1];
  const drawn = shape("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${name} over time: ${number(last)} after ${span(end)}` });
  for (const part of [0, 0.5, 1]) {
    const value = Math.round(most * part);
    drawn.append(shape("line", { class: "grid", x1: left, x2: width - 12, y1: y(value), y2: y(value) }), shape("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, number(value)));
    drawn.append(shape("text", { x: x(end * part), y: height - 8, "text-anchor": part === 1 ? "end" : part ? "middle" : "start" }, part ? span(end * part) : "0"));
  }
  drawn.append(shape("polyline", { class: "curve", points: points.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(" ") }));
  drawn.append(shape("circle", { class: "end", cx: x(end), cy: y(last), r: 3.5 }));
  return element("figure", {}, element("figcaption", {}, `${name}: ${number(last)}`), drawn);
}

function charts() {
  if (data.curve.length < 2) {
    const why = data.origins.length ? ELSEWHERE : "Too little time has passed: there is a point every half minute.";
    return byId("charts").append(element("p", { class: "quiet" }, why));
  }
  const shown = [["Findings", 4], ["Tests", 1], ["Lane results", 2]];
  if (data.features) shown.splice(1, 0, ["Behaviours", 3]);
  byId("charts").append(...shown.map(([name, column]) => chart(name, column)));
}

/** Fill a table with rows of cells. Each cell has the name of its column: a narrow window shows tables as lists. */
function fillTable(table, names, rows) {
  for (const row of rows) row.forEach((cell, place) => names[place] && cell.setAttribute("data-label", names[place]));
  table.replaceChildren(element("thead", {}, element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name)))), element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row))));
  return table;
}

const cell = (...parts) => element("td", {}, ...parts);
const numberCell = (value) => element("td", { class: "number" }, number(value));

const NORMAL = ["unsupported", "skipped"]; // as in fuzzer/watching/lane_lines.py

function lanes() {
  const results = (counts) => (counts.ran ?? 0) + (counts.built ?? 0);
  const total = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);
  const rows = data.lanes.map((lane) => {
    const others = Object.entries(lane.recent).filter(([how]) => how !== "ran" && how !== "built");
    const name = element("th", { scope: "row" }, lane.lane);
    if (data.failing.includes(lane.lane)) name.append(element("span", { class: "tag bad" }, "fails"));
    const normal = others.length && others.length === Object.keys(lane.recent).length && others.every(([how]) => NORMAL.includes(how));
    const part = (counts) => element("td", { class: total(counts) < FEW ? "few" : "" }, total(counts) ? `${number(results(counts))} of ${number(total(counts))}` : "");
    const before = part(lane.earlier);
    if (total(lane.earlier) >= FEW) before.prepend(`${percent(results(lane.earlier), total(lane.earlier))}: `);
    return [name, part(lane.recent), before, cell(others.map(([how, count]) => `${count} ${how}`).join(", ") + (normal ? " (normal)" : ""))];
  });
  if (!rows.length && data.origins.length) return byId("health").append(element("caption", { class: "quiet" }, ELSEWHERE));
  fillTable(byId("health"), ["Lane", "Newest results", "Results before", "Otherwise"], rows);
}

function heat() {
  const { lanes, cells } = data.support;
  const lane = (name) => element("th", { scope: "col", class: "lane" }, element("span", {}, name));
  const rows = Object.entries(cells).filter(([op, row]) => op.includes(byId("op").value.trim()) && (!byId("poor").checked || row.some(([tried, ran]) => tried >= FEW && !ran)));
  const body = rows.map(([op, row]) => element("tr", {}, element("th", { scope: "row" }, op), ...row.map(([tried, ran], place) => {
    if (!tried) return element("td");
    const share = ran / tried;
    const facts = { title: `${op} on ${lanes[place]}: ${ran} of ${tried} gave a result`, "data-label": lanes[place] };
    if (tried < FEW) return element("td", { class: "few", ...facts }, `${ran}/${tried}`);
    return element("td", { class: `h${share ? 1 + Math.min(3, Math.floor(share * 4)) : 0}`, ...facts }, `${Math.floor(100 * share)}`, element("small", {}, `of ${number(tried)}`));
  })));
  byId("heat").replaceChildren(element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "percent"), ...lanes.map(lane))), element("tbody", {}, ...body));
  byId("ops-shown").textContent = `${number(rows.length)} of ${number(Object.keys(cells).length)} operators`;
}

function stages() {
  const rows = Object.entries(data.stage_cpu).sort((a, b) => b[1] - a[1]);
  const most = Math.max(1e-9, ...rows.map(([, seconds]) => seconds));
  const total = Math.max(1e-9, rows.reduce((sum, [, seconds]) => sum + seconds, 0));
  const bar = (seconds) => shape("svg", { width: 260, height: 14, "aria-hidden": "true" }, shape("rect", { width: (260 * seconds) / most, height: 14, rx: 3 }));
  fillTable(byId("stages"), ["Stage", "CPU", "Share", ""], rows.map(([stage, seconds]) => [
    element("th", { scope: "row" }, stage), cell(span(seconds)), element("td", { class: "number" }, percent(seconds, total)), cell(bar(seconds))]));
}

function releases() {
  const rows = data.findings.filter((row) => row.releases.length);
  if (!rows.length) return byId("matrix").append(element("p", { class: "quiet" }, "No finding was run on other releases: ", element("code", {}, "fuzz toolchain add"), " installs some, ", element("code", {}, "fuzz bisect"), " runs findings on them."));
  const names = data.releases;
  const looks = { fails: "bad", passes: "good" };
  byId("matrix").append(fillTable(element("table", { class: "listed" }), ["Finding", ...names, "Introduced in", "Fixed in"], rows.map((row) => {
    const verdicts = Object.fromEntries(row.releases);
    return [element("th", { scope: "row" }, element("a", { href: `#finding/${row.slug}` }, ...prose(row.title))),
      ...names.map((name) => element("td", { class: looks[verdicts[name]] ?? "" }, verdicts[name] ?? "")), cell(row.introduced), cell(row.fixed)];
  })));
}

// --- the keyboard

function onKey(event) {
  const typing = event.target.matches("input, select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/" && !typing) {
    event.preventDefault();
    byId("words").focus();
  } else if (event.key === "Escape" && event.target.closest("#detail")) {
    (document.querySelector("#rows tr.chosen a") ?? document.querySelector("#rows tbody a") ?? byId("words")).focus();
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && (event.target.closest("#rows") || event.target.id === "words")) {
    const links = [...document.querySelectorAll("#rows tbody a")];
    const next = links[links.indexOf(event.target) + (event.key === "ArrowDown" ? 1 : -1)];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  }
}

tiles();
waiting();
fillFilters();
showRows();
charts();
lanes();
heat();
stages();
releases();
for (const field of filters) field.addEventListener("input", showRows);
byId("more-filters").addEventListener("click", () => byId("more-filters").setAttribute("aria-expanded", byId("filters").classList.toggle("all")));
for (const field of [byId("op"), byId("poor")]) field.addEventListener("input", heat);
byId("reset").addEventListener("click", showAll);
for (const button of document.querySelectorAll("#rows thead button")) button.addEventListener("click", sortBy);
for (const form of document.querySelectorAll("form")) form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("keydown", onKey);
addEventListener("hashchange", follow);
byId("findings").addEventListener("click", (event) => event.target.hash && event.target.hash === location.hash && follow()); // no change, no event
follow();
