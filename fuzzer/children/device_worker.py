"""The worker of one device: run the lanes of one job after the other, until the supervisor closes the connection.

`fuzzer.isolate.device_supervisor` starts it:

    python -P -m fuzzer.children.device_worker FD PARENT OPENER [PATH SHA256]

FD           a socket
PARENT       the process with which the worker dies (0: the process that started it)
OPENER       a Python file whose `open_device` opens the device (empty: `fuzzer.lanes.device`)
PATH SHA256  a file to execute before the first lane, and the hash of its text

CUDA_VISIBLE_DEVICES names the device. The worker never forks, because a process that has used CUDA must not.
"""

from __future__ import annotations

import faulthandler
import importlib.util
import os
import sys
from collections.abc import Callable

from multiprocess.connection import Connection

from fuzzer.children.job import collect_between_cases_only, run_job
from fuzzer.isolate import protocol
from fuzzer.lanes.base.lane import Lane
from fuzzer.system import confinement, host_name, no_network
from fuzzer.system.process_tree import adopt_orphans
from fuzzer.system.processes import die_with_parent, limit_files
from fuzzer.toolchains.preload import Preload, execute
from oracles.lane import LaneSpec

Opened = tuple[dict[str, str], Callable[[LaneSpec], Lane]]
"""The versions and settings of what was loaded, and the function that gives the code of a lane."""


def main() -> None:
    data, parent = map(int, sys.argv[1:3])
    opener, *preload = sys.argv[3:]
    die_with_parent(parent or os.getppid())
    host_name.hide()
    limit_files()
    if parent:  # otherwise compute-sanitizer has started it, and may talk to it over a port
        confinement.enter([os.environ["TMPDIR"]], gpu=True)
        no_network.enter(connects=True)
    adopt_orphans()
    faulthandler.enable()
    stated, runner_of = _open_device(opener)
    if preload:
        stated |= execute(Preload(*preload))
    collect_between_cases_only()
    connection = Connection(data)
    protocol.send(connection, protocol.Started(stated))
    while True:
        try:
            run_job(connection, runner_of)
        except EOFError:
            break
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # run no destructors: a crash of one while the interpreter ends says nothing about a lane


def _open_device(opener: str) -> Opened:
    if not opener:
        from fuzzer.lanes.device import open_device

        return open_device()
    name = "__device__"
    spec = importlib.util.spec_from_file_location(name, opener)
    if spec is None or spec.loader is None:
        raise ImportError(f"{opener} is not a Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    opened: Opened = module.open_device()
    return opened


if __name__ == "__main__":
    main()
