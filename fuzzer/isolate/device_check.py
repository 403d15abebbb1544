"""Check that the devices of this machine compute correctly: each must give the known answer, as before a campaign's
first lane on it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from fuzzer.isolate import known_answer
from fuzzer.isolate.device_pool import DevicePool
from fuzzer.isolate.fleet import Fleet
from fuzzer.isolate.known_answer import KNOWN_ANSWER
from fuzzer.lanes.base.availability import THIS, CompileOnly, Machine, Missing, Runnable, availability
from fuzzer.system import temporary
from fuzzer.system.devices import KINDS
from fuzzer.toolchains.toolchain import Toolchain
from oracles.outcome import why_no_result
from oracles.targets import TARGETS, Runs, target_named


@dataclass(frozen=True, slots=True)
class DeviceCheck:
    """The result for one device. `why_not` is the failure of three attempts in a row, or what the machine was short of,
    empty where the device passed. `seconds` is the time until the answer came."""

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
            devices = machine.devices(target_named(KNOWN_ANSWER.lane.target).device)
            with DevicePool(temporary.new_folder(), devices, toolchain) as pool:
                return check_devices(pool), ""


def drivers_here(fleet: Fleet, machine: Machine = THIS) -> tuple[list[DeviceCheck], list[str]]:
    """Check the drivers that run kernels on this processor, each in a child of its own. The texts say which are
    missing, and what would install them."""
    checks, missing = [], []
    for row in (row for row in TARGETS if row.runs is Runs.BY_KERNELS):
        known, words = known_answer.of_target(row.name), KINDS[row.device].words
        match availability(known.lane, machine):
            case CompileOnly(why=why) | Missing(why=why):
                missing.append(f"{why}; the lanes of {row.name} are only compiled")
            case Runnable():
                began = time.monotonic()
                outcome = fleet.run_fresh(known.case, [known.lane]).outcomes[known.lane]
                why_not = "" if known.is_given(outcome) else why_no_result(outcome) or "it gives another answer"
                checks.append(DeviceCheck(words, why_not, round(time.monotonic() - began, 1)))
    return checks, missing


def check_devices(pool: DevicePool) -> list[DeviceCheck]:
    """Check the devices one after the other, each in its own worker. Each takes some seconds."""
    checks = []
    for supervisor in pool.supervisors:
        began = time.monotonic()
        supervisor.ready()
        checks.append(DeviceCheck(str(supervisor.device), supervisor.why_unused, round(time.monotonic() - began, 1)))
    return checks
