"""A worker of one device: runs the lanes of one job after the other, until the supervisor hangs up.

Started as `python -m fuzzer.isolate.device_worker FD PARENT KIND [PATH SHA256]` by `fuzzer.isolate.device_station`. FD
is a socket, PARENT the process to die with (0: whoever started this one), KIND the device's, PATH a file to execute
before the first lane. CUDA_VISIBLE_DEVICES names the device. It never forks: what has touched CUDA must not.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import sys

from multiprocess.connection import Connection

from fuzzer.isolate import protocol
from fuzzer.isolate.child import run_job
from fuzzer.isolate.devices import DeviceKind
from fuzzer.isolate.preload import Preload, execute
from fuzzer.isolate.processes import die_with_parent


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
