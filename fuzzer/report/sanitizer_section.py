"""The reports of compute-sanitizer for a finding on a GPU, as a section of the issue and of the log."""

from __future__ import annotations

from collections.abc import Sequence

from fuzzer.isolate.reports import SanitizerReport
from fuzzer.report.markdown import block, prose


def text(reports: Sequence[SanitizerReport]) -> str:
    """A line for each tool, and the first error of the first tool that has errors."""
    if not reports:
        return ""
    lines = "".join(f"- {prose(_line(report))}\n" for report in reports)
    first = next((report.lines for report in reports if report.lines), ())
    printed = "\n" + block("\n".join(first)) if first else ""
    return f"\nThe same once more under compute-sanitizer:\n\n{lines}{printed}"


def log(reports: Sequence[SanitizerReport]) -> str:
    """The whole output of each tool."""
    return "".join("\n" + "\n".join((f"compute-sanitizer {_line(report)}", *report.lines)) + "\n" for report in reports)


def _line(report: SanitizerReport) -> str:
    match report.errors:
        case None:
            return f"{report.tool}: it did not come to an end"
        case 0:
            return f"{report.tool}: no errors"
        case count:
            where = f", in the kernel {report.kernel}" if report.kernel else ""
            return f"{report.tool}: {count} error{'s' * (count > 1)}, the first {report.what!r}{where}"
