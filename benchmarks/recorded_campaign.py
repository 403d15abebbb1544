"""Record the one campaign that the documents show: what `fuzz triage`, `status` and `dashboard` say of it, a picture of
its dashboard, and its live screen.

    python benchmarks/recorded_campaign.py CLONE [--output FILE]

CLONE is a clone in which `make fuzz` has run. Writes docs/examples/campaign.json, from which `make docs` writes what
pages quote, and docs/images/dashboard.png, which a Chromium takes. FILE is that of `first_minutes.py --output`; with it
live-screen.svg is drawn anew beside it. Exits with 1 if a picture is larger than 200 kB.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from first_minutes import plain
from in_a_terminal import COLUMNS, FRAME
from rich.ansi import AnsiDecoder
from rich.console import Console

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "docs" / "examples" / "campaign.json"
PICTURE, SCREEN = ROOT / "docs" / "images" / "dashboard.png", ROOT / "docs" / "images" / "live-screen.svg"
WIDTH, HEIGHT = 1280, 800
LARGEST = 200_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path, metavar="CLONE")
    parser.add_argument("--output", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    clone = arguments.clone.resolve()
    record = {
        "commit": output_of(clone, "git", "log", "-1", "--format=%h"),
        "date": output_of(clone, "date", "-u", "+%Y-%m-%d", "-r", "campaign.json"),
        "triage": output_of(clone, "fuzz", "triage", "--new", "--top", "5").splitlines(),
        "status": output_of(clone, "fuzz", "status").splitlines(),
        "dashboard": output_of(clone, "fuzz", "dashboard").splitlines(),
    }
    take_picture(clone / "dashboard.html")
    record["picture"] = hashlib.sha256(PICTURE.read_bytes()).hexdigest()
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
    if arguments.output:
        SCREEN.write_text(live_screen(arguments.output.read_bytes().replace(bytes(clone), b"difftvm")))
    sys.exit(1 if max(path.stat().st_size for path in (PICTURE, SCREEN)) > LARGEST else 0)


def output_of(clone: Path, *command: str) -> str:
    """What a command prints in the clone, whose folder it does not name."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip().replace(str(clone), "difftvm")


CONFIRMED = re.compile(r"^fuzzing .*^new  +\d", re.DOTALL | re.MULTILINE)


def live_screen(output: bytes) -> str:
    """The last frame of the tests in which something is confirmed, as SVG. It names no font of another site."""
    frames = [frame for frame in FRAME.split(output) if CONFIRMED.search(plain(frame))]
    if not frames:
        sys.exit("the campaign confirmed nothing while tests ran")
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    for line in AnsiDecoder().decode(frames[-1].decode(errors="replace").replace("\r\n", "\n")):
        console.print(line, no_wrap=True, crop=True)
    return re.sub(r"@font-face {.*?}\n", "", console.export_svg(title="make fuzz"), flags=re.DOTALL)


def take_picture(page: Path) -> None:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        sys.exit("there is no Chromium")
    with tempfile.TemporaryDirectory(prefix="difftvm-") as profile:
        options = [
            *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"),
            *("--disable-background-networking", f"--user-data-dir={profile}", f"--window-size={WIDTH},{HEIGHT}"),
            *(f"--screenshot={PICTURE}", page.as_uri()),
        ]
        subprocess.run([browser, *options], check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
