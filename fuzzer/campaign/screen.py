"""Live progress: a panel on a terminal, one plain line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from fuzzer.campaign.loop import Campaign
from fuzzer.report.finding_file import FindingDoc

LINE_SECONDS = 10.0
FRAME_SECONDS = 0.5


class Screen:
    """Shows a campaign while its context is open. Writes to stderr: stdout is for results."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._console = Console(stderr=True)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._show, name="screen", daemon=True)

    def __enter__(self) -> Screen:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def _show(self) -> None:
        if not self._console.is_terminal:
            while not self._over.wait(LINE_SECONDS):
                print(self._line(), file=sys.stderr, flush=True)
            return
        with Live(self._panel(), console=self._console, refresh_per_second=4) as live:
            while not self._over.wait(FRAME_SECONDS):
                live.update(self._panel())
            live.update(self._panel())

    def _line(self) -> str:
        campaign, tally = self._campaign, self._campaign.store.state.tally
        return (
            f"{campaign.seconds:.0f} s  {campaign.tests} tests  {tally.lane_results} lane results  "
            f"{len(campaign.new)} new findings, {len(campaign.store.findings)} in all"
        )

    def _panel(self) -> Group:
        campaign, tally = self._campaign, self._campaign.store.state.tally
        limit = f" of {campaign.settings.seconds:.0f}" if campaign.settings.seconds else ""
        table = Table.grid(padding=(0, 2))
        rate = campaign.tests / max(campaign.seconds, 1e-9)
        table.add_row("time", f"{campaign.seconds:.0f}{limit} s, seed {campaign.store.state.seed}")
        table.add_row(
            "tests", f"{campaign.tests} ({rate:.1f}/s), {tally.invalid} invalid, next {campaign.store.state.next_test}"
        )
        table.add_row("lane results", f"{tally.lane_results} in tests, {tally.triage_lane_results} in triage")
        busiest = Counter(tally.stage_cpu).most_common(4)
        total = sum(tally.stage_cpu.values()) or 1.0
        table.add_row("where time goes", ", ".join(f"{stage} {seconds / total:.0%}" for stage, seconds in busiest))
        kinds = Counter(str(doc.component) for doc in campaign.store.findings.values())
        shown = ", ".join(f"{count} {component}" for component, count in kinds.most_common()) or "none yet"
        table.add_row("findings", f"{shown} ({len(campaign.new)} new in this run)")
        latest = [Text(f"  {doc.slug}", overflow="ellipsis", no_wrap=True) for doc in campaign.new[-5:]]
        return Group(Text("difftvm", style="bold"), table, *latest)


def found_line(doc: FindingDoc) -> str:
    """One finding on one line."""
    return f"{doc.slug}  [{doc.component}]  {', '.join(doc.ops)}  ({', '.join(doc.lanes)})"
