"""`fuzz doctor`: proves that every kind of failure is detected, and prints versions and lanes."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import typer

from fuzzer.commands.options import JsonFlag, PreloadFile
from fuzzer.commands.progress import working
from fuzzer.isolate import sanitizer
from fuzzer.isolate.device_check import devices_here
from fuzzer.isolate.fleet import Fleet
from fuzzer.isolate.selftest import Check, self_test
from fuzzer.lanes import LANES, TVM_LANES
from fuzzer.system.exit_codes import Exit
from fuzzer.system.terminal import echo, next_line, print_json
from fuzzer.toolchains.registry import finder
from fuzzer.toolchains.toolchain import HOST_NAME


def doctor(preload: PreloadFile = None, json: JsonFlag = False) -> None:
    """Prove that every kind of failure is detected, and print versions and lanes."""
    find_all = finder(preload)
    with (
        working("testing", lambda: "nothing is saved"),
        Fleet(Path(tempfile.mkdtemp(prefix="difftvm-")), find_all) as fleet,
    ):
        checks = self_test(fleet)
        versions = fleet.versions
    devices, why_no_device = devices_here(find_all(HOST_NAME))
    good = all(check.passed for check in checks) and all(device.passed for device in devices)
    if json:
        gpus = {"devices": devices, "why_no_device": why_no_device, "compute_sanitizer": sanitizer.is_installed()}
        print_json({"versions": versions, "checks": checks, **gpus, "lanes": LANES})
    else:
        echo("versions: " + ", ".join(f"{name} {version}" for name, version in versions.items()))
        for check in checks:
            detected = check.found or "no finding"
            echo(f"  {'ok ' if check.passed else 'BAD'} {check.misbehaviour}: {detected} ({check.seconds:.1f} s)")
        echo(f"GPUs: {why_no_device or f'{len(devices)} in use'}; {_compute_sanitizer()}")
        for each in devices:
            result = each.why_not or "gives the known answer"
            echo(f"  {'ok ' if each.passed else 'BAD'} {each.device}: {result} ({each.seconds:.1f} s)")
        echo("lanes: " + ", ".join(lane.name for lane in LANES))
        echo("targets: " + ", ".join(sorted({lane.target for lane in TVM_LANES})))
        echo(next_line("run", "--seconds", 120) if good else _consequence(checks))
    raise typer.Exit(Exit.GONE if good else Exit.ENVIRONMENT)


def _compute_sanitizer() -> str:
    installed = "is" if sanitizer.is_installed() else "is not"
    return f"{sanitizer.PROGRAM} {installed} installed"


def _consequence(checks: Sequence[Check]) -> str:
    if all(check.passed for check in checks):
        return "campaigns do not use the GPUs that are BAD"
    return "do not fuzz: failures would be missed"
