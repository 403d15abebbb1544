"""Check that the devices of this machine compute correctly: each must give the known answer, as before a campaign's
first lane on it."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from fuzzer.isolate.device_pool import DevicePool
from fuzzer.isolate.known_answer import KNOWN_ANSWER
from fuzzer.lanes.base.availability import THIS, CompileOnly, Machine, Missing, Runnable, availability
from fuzzer.toolchains.toolchain import Toolchain


@dataclass(frozen=True, slots=True)
class DeviceCheck:
    """The result for one device. `why_not` is the failure of three attempts in a row, empty where the device passed.
    `seconds` is the time until the answer came."""

    device: str
    why_not: str
    seconds: float

    @property
    def passed(self) -> bool:
        return not self.why_not


def devices_here(toolchain: Toolchain, machine: Machine = THIS) -> tuple[list[DeviceCheck], str]:
    """Check the devices that campaigns use. The text gives the reason where there are none."""
    match availability(KNOWN_ANSWER.lane, machine):
        case CompileOnly(why=why) | Missing(why=why):
            return [], f"{why}: lanes for one are only compiled"
        case Runnable():
            with DevicePool(Path(tempfile.mkdtemp(prefix="difftvm-")), machine.devices(), toolchain) as pool:
                return check_devices(pool), ""


def check_devices(pool: DevicePool) -> list[DeviceCheck]:
    """Check the devices one after the other, each in its own worker. Each takes some seconds."""
    checks = []
    for supervisor in pool.supervisors:
        began = time.monotonic()
        supervisor.ready()
        why_not = pool.quarantined.get(supervisor.device, "")
        checks.append(DeviceCheck(str(supervisor.device), why_not, round(time.monotonic() - began, 1)))
    return checks
