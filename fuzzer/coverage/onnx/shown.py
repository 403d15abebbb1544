"""Which versions of TVM's converters of ONNX are drawn."""

from __future__ import annotations

from rich.console import Console
from rich.status import Status

from fuzzer.coverage.measure import CoverageOptions
from fuzzer.coverage.onnx import report
from fuzzer.coverage.shown import Shown


def shown(options: CoverageOptions, console: Console) -> Shown:
    with Status("drawing cases ...", console=console):
        found = report.measured(options.ops, options.count, options.seed)
    return Shown(report.document(found), report.text(found))
