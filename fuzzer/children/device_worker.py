"""A worker of one device: runs the lanes of one job after the other, until the supervisor hangs up.

`fuzzer.isolate.device_supervisor` starts it as `python -m fuzzer.children.device_worker FD PARENT KIND [PATH SHA256]`.
FD is a socket, PARENT the process to die with (0: the process that started this one), KIND that of the device, PATH a
file to execute before the first lane. CUDA_VISIBLE_DEVICES names the device. The worker never forks: a process that has
used CUDA must not.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import sys

from multiprocess.connection import Connection

from fuzzer.children.job import run_job
from fuzzer.isolate import protocol
from fuzzer.system.devices import DeviceKind
from fuzzer.system.processes import die_with_parent
from fuzzer.toolchains.preload import Preload, execute


def main() -> None:
    data, parent = map(int, sys.argv[1:3])
    kind, *preload = sys.argv[3:]
    die_with_parent(parent or os.getppid())
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()
    if kind == DeviceKind.FAKE:
        from fuzzer.lanes.fake_device import open_device
    else:
        from fuzzer.lanes.device import open_device

    stated, runner_of = open_device()
    if preload:
        stated |= execute(Preload(*preload))
    connection = Connection(data)
    protocol.send(connection, protocol.Started(stated))
    while True:
        try:
            run_job(connection, runner_of)
        except EOFError:
            break
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # no destructors: a compiler's, run in the order of an interpreter's end, are nobody's finding


if __name__ == "__main__":
    main()
