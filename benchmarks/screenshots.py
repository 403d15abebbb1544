"""Make the pictures of the README: the live screen as SVG, the dashboard as PNG.

    python benchmarks/screenshots.py DIR [--seconds 60] [--out docs/images]

DIR is a campaign; it is continued for `--seconds` in a terminal of 100 columns and 32 lines, and the last frame of the
screen becomes `live-screen.svg`. Then Chromium opens the dashboard of the campaign and takes `dashboard.png`. Exits
with 1 if a picture is larger than 200 kB.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from io import StringIO
from pathlib import Path

from rich.ansi import AnsiDecoder
from rich.console import Console

COLUMNS, LINES = 100, 32
WIDTH, HEIGHT = 1280, 900
LARGEST = 200_000

FRAME = re.compile(rb"\r?\x1b\[2K(?:\x1b\[1A\x1b\[2K)*")
"""What the screen writes before each frame: it goes up to the first line of the last one."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("campaign", type=Path, metavar="DIR")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    pictures = arguments.out / "live-screen.svg", arguments.out / "dashboard.png"
    pictures[0].write_text(live_screen(arguments.campaign.resolve(), arguments.seconds))
    dashboard(arguments.campaign.resolve(), pictures[1])
    sizes = {picture: picture.stat().st_size for picture in pictures}
    print("\n".join(f"{picture}: {size / 1000:.0f} kB" for picture, size in sizes.items()))
    sys.exit(1 if max(sizes.values()) > LARGEST else 0)


def live_screen(campaign: Path, seconds: int) -> str:
    words = ["run", "--campaign", campaign.name, "--seconds", seconds, "--drain", 0]
    written = in_a_terminal([sys.executable, "-m", "fuzzer.cli", *map(str, words)], campaign.parent)
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    for line in AnsiDecoder().decode(last_frame(written).decode(errors="replace")):
        console.print(line, no_wrap=True, crop=True)
    picture = console.export_svg(title=f"fuzz run --campaign {campaign.name}")
    return re.sub(r"@font-face {.*?}\n", "", picture, flags=re.DOTALL)  # it would be loaded from another site


def in_a_terminal(command: list[str], folder: Path) -> bytes:
    """Run a command whose output is a terminal, and return all that it writes there."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": os.getcwd(), "COLUMNS": str(COLUMNS)}
    with subprocess.Popen(command, cwd=folder, env=environment, stdin=its, stdout=subprocess.DEVNULL, stderr=its):
        os.close(its)
        parts = []
        while part := _read(ours):
            parts.append(part)
    os.close(ours)
    return b"".join(parts)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # Linux reports the end of a terminal so
        return b""


def last_frame(written: bytes) -> bytes:
    """The last frame of the tests in which all workers are at work and the lanes are known."""
    drawn = (frame for frame in FRAME.split(written) if b"fuzzing" in frame and b"lanes give results" in frame)
    frames = [frame for frame in drawn if b"idle" not in frame]
    if not frames:
        sys.exit("the campaign drew no screen; give it more --seconds")
    return frames[-1].replace(b"\r\n", b"\n")


def dashboard(campaign: Path, picture: Path) -> None:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        sys.exit("there is no Chromium")
    page = ["-m", "fuzzer.cli", "dashboard", "--campaign", campaign.name, "--out"]
    with tempfile.TemporaryDirectory(prefix="difftvm-") as folder:
        file = Path(folder) / "dashboard.html"
        environment = {**os.environ, "PYTHONPATH": os.getcwd()}
        command = [sys.executable, *page, str(file)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=campaign.parent, env=environment)
        options = [
            *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"),
            *(f"--user-data-dir={folder}/profile", f"--window-size={WIDTH},{HEIGHT}"),
            *(f"--screenshot={picture.absolute()}", file.as_uri()),
        ]
        subprocess.run([browser, *options], check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
