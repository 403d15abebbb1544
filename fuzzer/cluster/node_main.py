"""`fuzz` for a supervisor that may be killed: ends cleanly with it. python -m fuzzer.cluster.node_main PID run ..."""

from __future__ import annotations

import signal
import sys

from fuzzer.isolate.processes import die_with_parent


def main() -> None:
    die_with_parent(int(sys.argv.pop(1)), signal.SIGTERM)
    from fuzzer import cli  # takes half a second, in which the parent may end

    cli.main()


if __name__ == "__main__":
    main()
