"""onnxruntime as all of difftvm imports it: without its telemetry.

Otherwise it looks up a host, writes a number of the machine below the home folder, and starts a thread, with which a
zygote could not fork. Its own function `disable_telemetry_events` comes too late.
"""

from fuzzer.system import telemetry

telemetry.switch_off()

import onnxruntime as ort  # noqa: E402
from onnxruntime.capi import onnxruntime_pybind11_state as states  # noqa: E402

__all__ = ["ort", "states"]
