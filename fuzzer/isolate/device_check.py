"""Do the devices here compute? Each is asked for the known answer, as before every campaign's first lane on it."""

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
    """`why_not` says what was wrong, three times in a row; empty where the answer came. `seconds` to the answer."""

    device: str
    why_not: str
    seconds: float

    @property
    def passed(self) -> bool:
        return not self.why_not


def devices_here(toolchain: Toolchain, machine: Machine = THIS) -> tuple[list[DeviceCheck], str]:
    """The devices that campaigns use; why there are none where there are none."""
    match availability(KNOWN_ANSWER.lane, machine):
        case CompileOnly(why=why) | Missing(why=why):
            return [], f"{why}: lanes for one are only compiled"
        case Runnable():
            with DevicePool(Path(tempfile.mkdtemp(prefix="difftvm-")), machine.devices(), toolchain) as pool:
                return check_devices(pool), ""


def check_devices(pool: DevicePool) -> list[DeviceCheck]:
    """One after the other, each in a worker of its own; some seconds for each."""
    checks = []
    for station in pool.stations:
        began = time.monotonic()
        station.ready()
        why_not = pool.quarantined.get(station.device, "")
        checks.append(DeviceCheck(str(station.device), why_not, round(time.monotonic() - began, 1)))
    return checks
