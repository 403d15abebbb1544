"""Python imports this at its start where the folder is on PYTHONPATH: the process is watched (`watching.py`)."""

import os

if "DIFFTVM_WATCHED_LOG" in os.environ:
    import watching

    def _written(line: str) -> None:
        with open(os.environ[watching.LOG], "a") as log:
            log.write(f"{line}\n")

    def _ended(command: str) -> None:
        os._exit(watching.STARTED)

    watching.watch(os.environ[watching.FOLDERS].split(os.pathsep), _written, _ended)
