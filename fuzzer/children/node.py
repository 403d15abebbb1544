"""Run `fuzz` and end it cleanly when its supervisor ends: `python -m fuzzer.children.node PID run ...`."""

from __future__ import annotations

import os
import signal
import sys

from fuzzer.system.processes import die_with_parent


def main() -> None:
    die_with_parent(int(sys.argv[1]), signal.SIGTERM)  # execve(2) keeps this setting
    os.execv(sys.executable, [sys.executable, "-P", "-m", "fuzzer.cli", *sys.argv[2:]])


if __name__ == "__main__":
    main()
