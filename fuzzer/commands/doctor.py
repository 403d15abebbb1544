"""`fuzz doctor`: proves that every kind of failure is detected, and prints versions and lanes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import typer

from fuzzer.commands.options import JsonFlag, PreloadFile
from fuzzer.commands.progress import working
from fuzzer.isolate import sanitizer
from fuzzer.isolate.device_check import devices_here, drivers_here
from fuzzer.isolate.fleet import Fleet
from fuzzer.isolate.selftest import Check, self_test
from fuzzer.lanes import LANES, TVM_LANES
from fuzzer.system import confinement, no_network, temporary
from fuzzer.system.child_environment import inherited
from fuzzer.system.exit_codes import Exit
from fuzzer.system.machine_facts import this_machine
from fuzzer.system.terminal import echo, next_line, print_json
from fuzzer.system.tried_versions import untried
from fuzzer.toolchains.registry import finder
from fuzzer.toolchains.toolchain import HOST_NAME

_ENTERS = 'import runpy, sys; sys.exit(not runpy.run_path(sys.argv[1])["enter"](*sys.argv[2:]))'


def doctor(preload: PreloadFile = None, json: JsonFlag = False) -> None:
    """Run the self-test: is each kind of failure detected? Print versions and lanes."""
    find_all = finder(preload)
    with (
        working("testing", lambda: "nothing is saved"),
        Fleet(temporary.new_folder(), find_all) as fleet,
    ):
        checks = self_test(fleet)
        versions = fleet.versions
        drivers, missing_drivers = drivers_here(fleet)
    devices, why_no_device = devices_here(find_all(HOST_NAME))
    good = all(check.passed for check in checks) and all(device.passed for device in (*devices, *drivers))
    if json:
        gpus = {"devices": devices, "why_no_device": why_no_device, "compute_sanitizer": sanitizer.is_installed()}
        gpus |= {"drivers": drivers, "missing_drivers": missing_drivers}
        confined = {"confinement": _confinement()}
        lanes = {"lanes": LANES, "lanes_without_network": _lanes_are_without_network()}
        machine = {"machine": this_machine()}
        print_json(
            {"versions": versions, **machine, "untried": untried(), "checks": checks, **confined, **gpus, **lanes}
        )
    else:
        echo("versions: " + ", ".join(f"{name} {version}" for name, version in versions.items()))
        echo(f"machine: {this_machine()}")
        for sentence in untried():
            echo(f"  {sentence}")
        for check in checks:
            detected = check.found or "no finding"
            echo(f"  {'ok ' if check.passed else 'BAD'} {check.misbehaviour}: {detected} ({check.seconds:.1f} s)")
        echo(f"confinement: {_confinement()}")
        echo(f"GPUs: {why_no_device or f'{len(devices)} in use'}; {_compute_sanitizer()}")
        for each in (*devices, *drivers):
            result = each.why_not or "gives the known answer"
            echo(f"  {'ok ' if each.passed else 'BAD'} {each.device}: {result} ({each.seconds:.1f} s)")
        for sentence in missing_drivers:
            echo(f"  {sentence}")
        without = _lanes_are_without_network()
        echo("network: " + ("lanes have none" if without else "lanes have yours, because this system has no filters"))
        echo("lanes: " + ", ".join(lane.name for lane in LANES))
        echo("targets: " + ", ".join(sorted({lane.target for lane in TVM_LANES})))
        echo(next_line("run", "--seconds", 120) if good else _consequence(checks))
    raise typer.Exit(Exit.GONE if good else Exit.ENVIRONMENT)


def _lanes_are_without_network() -> bool:
    """Whether the network can be taken from a process here, tried in a new one."""
    return _can_be_entered(no_network.__file__)


def _confinement() -> str:
    """What confines lanes here, tried in a new process: a container may refuse what the kernel has."""
    return confinement.in_words(confinement.version(), _can_be_entered(confinement.__file__, ""))


def _can_be_entered(file: str, *arguments: str) -> bool:
    command = [sys.executable, "-I", "-c", _ENTERS, file, *arguments]
    return subprocess.run(command, env=inherited()).returncode == 0


def _compute_sanitizer() -> str:
    installed = "is" if sanitizer.is_installed() else "is not"
    return f"{sanitizer.PROGRAM} {installed} installed"


def _consequence(checks: Sequence[Check]) -> str:
    if all(check.passed for check in checks):
        return "campaigns do not use the GPUs that are BAD"
    return "do not fuzz: failures would be missed"
