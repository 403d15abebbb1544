"""The full names of exceptions that lanes raise: signatures and saved findings contain them, so they stay."""

from __future__ import annotations

import pytest

from fuzzer.lanes.evaluated.common import Outside, Unknown
from fuzzer.lanes.onnx.description import NoDescription
from fuzzer.lanes.relax.compile_only import Refused
from fuzzer.lanes.relax.sanitized import RunFailed, SanitizerReport
from fuzzer.lanes.relax.schedules import WrongSchedule

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("exception", "name"),
    [
        (Unknown, "fuzzer.lanes.relax_opinions.Unknown"),
        (Outside, "fuzzer.lanes.relax_opinions.Outside"),
        (NoDescription, "fuzzer.lanes.onnx_description.NoDescription"),
        (Refused, "fuzzer.lanes.written.Refused"),
        (SanitizerReport, "fuzzer.lanes.sanitized.SanitizerReport"),
        (RunFailed, "fuzzer.lanes.sanitized.RunFailed"),
        (WrongSchedule, "fuzzer.lanes.schedules.WrongSchedule"),
    ],
)
def test_an_exception_has_the_full_name_that_saved_findings_have(exception: type[Exception], name: str) -> None:
    assert f"{exception.__module__}.{exception.__qualname__}" == name
