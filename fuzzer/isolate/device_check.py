"""Do the devices here compute? Each is asked for the known answer, as before every campaign's first lane on it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from fuzzer.isolate.device_pool import DevicePool


@dataclass(frozen=True, slots=True)
class DeviceCheck:
    """`why_not` says what was wrong, three times in a row; empty where the answer came. `seconds` to the answer."""

    device: str
    why_not: str
    seconds: float

    @property
    def passed(self) -> bool:
        return not self.why_not


def check_devices(pool: DevicePool) -> list[DeviceCheck]:
    """One after the other, each in a worker of its own; some seconds for each."""
    checks = []
    for station in pool.stations:
        began = time.monotonic()
        station.ready()
        why_not = pool.quarantined.get(station.device, "")
        checks.append(DeviceCheck(str(station.device), why_not, round(time.monotonic() - began, 1)))
    return checks
