"""What compute-sanitizer saw of a finding on a GPU, for the report and for the log."""

from __future__ import annotations

from collections.abc import Sequence

from fuzzer.isolate.reports import SanitizerReport


def text(reports: Sequence[SanitizerReport]) -> str:
    """A line for each tool; of the first that counted errors, the first error as it was printed."""
    if not reports:
        return ""
    told = "".join(f"- {_told(report)}\n" for report in reports)
    first = next((report.lines for report in reports if report.lines), ())
    printed = "\n```\n" + "\n".join(first) + "\n```\n" if first else ""
    return f"\nThe same once more under compute-sanitizer:\n\n{told}{printed}"


def log(reports: Sequence[SanitizerReport]) -> str:
    """All that is known, raw."""
    return "".join("\n" + "\n".join((f"compute-sanitizer {_told(report)}", *report.lines)) + "\n" for report in reports)


def _told(report: SanitizerReport) -> str:
    match report.errors:
        case None:
            return f"{report.tool}: it did not come to an end"
        case 0:
            return f"{report.tool}: no errors"
        case count:
            where = f", in the kernel {report.kernel}" if report.kernel else ""
            return f"{report.tool}: {count} error{'s' * (count > 1)}, the first {report.what!r}{where}"
