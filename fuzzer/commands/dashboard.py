"""`fuzz dashboard`: a campaign as one self-contained HTML page, in a file or served on the loopback interface."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from fuzzer.dashboard.data import DashboardData, gather
from fuzzer.dashboard.page import html
from fuzzer.dashboard.serve import server
from fuzzer.filing.ledger import default_path, filed_issues
from fuzzer.system.files import write_atomically, write_output
from fuzzer.system.local_server import LOOPBACK
from fuzzer.system.terminal import campaign_option, echo, next_line, print_json, say
from fuzzer.watching.formatting import number_of
from generators.graph import Invalid


def dashboard(
    campaign: Annotated[Path, typer.Option(metavar="DIR", help="The campaign's directory.")] = Path("."),
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="The file; by default DIR/dashboard.html.")] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the page on the loopback interface; a reload updates it.")
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="PORT", help="With --serve: the port; 0 for any free one.")
    ] = 8642,
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", metavar="FILE", help="The record of filed issues; by default that of `fuzz file`."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the data of the page as JSON; write no file.")] = False,
) -> None:
    """Write a campaign as one HTML page that needs no network. The campaign may be running."""
    filed = ledger or default_path()
    if serve:
        _serve(campaign, filed, port)
        return
    data = gather(campaign, filed_issues(filed))
    if json:
        print_json(data)
        return
    path = out or campaign / "dashboard.html"
    page = html(data)
    try:
        (write_output if out else write_atomically)(path, page.encode())
    except OSError as error:
        raise Invalid(f"{path}: {error.strerror}") from None
    counted = "; ".join(filter(None, data.counts))
    echo(f"{path} ({len(page.encode()) / 1e6:.1f} MB): {counted}{_unreadable(data)}")
    echo(next_line("dashboard", "--serve", *campaign_option(campaign)) + f", or open {path} in a browser")


def _unreadable(data: DashboardData) -> str:
    unreadable = number_of(len(data.unreadable), "folder")
    return f"; {unreadable} that cannot be read: {data.unreadable[0]}" if data.unreadable else ""


def _serve(campaign: Path, ledger: Path, port: int) -> None:
    gather(campaign, filed_issues(ledger))  # raises `Invalid` before the server starts, not at the first request
    with server(lambda: html(gather(campaign, filed_issues(ledger))), port) as serving:
        say(f"http://{LOOPBACK}:{serving.server_address[1]}/ (Ctrl-C ends it)")
        with suppress(KeyboardInterrupt):
            serving.serve_forever()
