"""The zygote of a toolchain: imports torch and TVM once, then forks children that run cases or one script.

`fuzzer.isolate.executor` starts it as `python -m fuzzer.children.zygote TOOLCHAIN KIND FD SUPERVISOR [PATH SHA256]`. FD
is a socket, SUPERVISOR a process, PATH a file to execute before the first fork, and SHA256 the hash of its text. The
first message is `{"versions": ...}`, or `{"failed": ...}` where that file fails. The protocol is the same in every
toolchain. The request `fork FOLDER` has three descriptors: a socket for the child's status, its log file, and its data
socket; the child writes in this folder only. The request `script PATH` has the first two: the child runs a Python file,
writes in the folder of the file only, and ends. The zygote sends `{"pid": ...}` on the status socket when the child is
forked, and `{"status": ..., "cpu": ...}` when it has ended.

It has one thread, so that fork is safe, and uses neither a GPU nor the network.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Sequence

from fuzzer.isolate.zygote_requests import FORK, MAX_BYTES, OWN_FAILURE, SCRIPT
from fuzzer.system import confinement, host_name, no_network, process_tree, processes, user_namespace
from fuzzer.system.processes import ONE_THREAD, die_with_parent, kill_group
from fuzzer.toolchains import reached
from fuzzer.toolchains.preload import Preload, PreloadFailed, execute
from fuzzer.toolchains.toolchain import HOME, GraphLanguage


def serve(control: socket.socket) -> None:
    """Fork children until the supervisor closes the connection."""
    wake_read, wake_write = wake_up = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake_write)
    signal.signal(signal.SIGCHLD, lambda signum, frame: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTSTP, signal.SIG_IGN)  # the supervisor handles Ctrl-Z after children end
    children: dict[int, socket.socket] = {}
    own = process_tree.children(os.getpid())  # what a library has started during the warm-up
    processes.outlive_parent()  # the connection closes with the supervisor, and then there is something to do
    watched: list[socket.socket | int] = [control, wake_read]
    while True:
        ready, _, _ = select.select(watched, [], [])
        if wake_read in ready:
            _drain(wake_read)
            _reap(children, own)
        if control in ready:
            request, fds, _, _ = socket.recv_fds(control, MAX_BYTES, 3)
            if not request:
                break
            _fork(control, children, wake_up, request, *fds)
    process_tree.kill_children(os.getpid())


def _fork(
    control: socket.socket, children: dict[int, socket.socket], wake_up: tuple[int, int], request: bytes, *fds: int
) -> None:
    parent, (status, log, *data) = os.getpid(), fds
    pid = os.fork()
    if pid == 0:
        try:
            die_with_parent(parent)
            _become_child(control, log, _own_folder(request), wake_up)
            for other in children.values():
                other.close()
            os.close(status)
            ended_with = _done(request, *data)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(OWN_FAILURE)
        os._exit(ended_with)
    for descriptor in (log, *data):
        os.close(descriptor)
    children[pid] = socket.socket(fileno=status)
    _send(children[pid], {"pid": pid})


def _done(request: bytes, *data: int) -> int:
    """Do what is requested, and return the exit status of the child."""
    if request.startswith(SCRIPT):
        from fuzzer.children import script

        status = script.run(os.fsdecode(request.removeprefix(SCRIPT)))
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        return status
    from fuzzer.children.job import main

    main(*data)
    return 0


def _own_folder(request: bytes) -> str:
    """The folder in which the child may write."""
    if request.startswith(SCRIPT):
        return os.path.dirname(os.fsdecode(request.removeprefix(SCRIPT)))
    return os.fsdecode(request.removeprefix(FORK))


def _become_child(control: socket.socket, log: int, folder: str, wake_up: tuple[int, int]) -> None:
    os.setsid()
    process_tree.adopt_orphans()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    control.close()
    for end in wake_up:
        os.close(end)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    processes.limit_files()
    with open(
        "/proc/self/oom_score_adj", "w", encoding="utf-8"
    ) as file:  # the kernel shall kill this process before all others
        file.write("900")
    if os.environ["HOME"] == os.path.join(os.environ["TMPDIR"], HOME):  # no other child's
        os.environ["HOME"] = folder
    confinement.enter([folder])


def _reap(children: dict[int, socket.socket], own: Sequence[int]) -> None:
    """Report each ended child, after killing its process group and the orphans that it leaves to this process. Its pid
    stays reserved until the wait."""
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if ended is None:
            return
        if ended.si_pid in children:
            kill_group(ended.si_pid)
            for orphan in set(process_tree.children(os.getpid())).difference(children, own):
                process_tree.kill(orphan)
        pid, status, usage = os.wait4(ended.si_pid, 0)
        if channel := children.pop(pid, None):
            with channel:
                _send(channel, {"status": status, "cpu": usage.ru_utime + usage.ru_stime})


def _send(channel: socket.socket, message: dict[str, float]) -> None:
    try:
        channel.send(json.dumps(message).encode())
    except OSError:  # the supervisor has ended, or has given up the child
        return


def _drain(fd: int) -> None:
    try:
        while os.read(fd, 4096):
            continue
    except BlockingIOError:
        return


def main() -> None:
    toolchain, kind, descriptor, supervisor, *preload = sys.argv[1:]
    control = socket.socket(fileno=int(descriptor))
    user_namespace.enter()
    host_name.hide()
    no_network.enter()
    process_tree.adopt_orphans()
    die_with_parent(int(supervisor))
    os.environ.update(ONE_THREAD)
    gc.disable()  # collections while modules are imported find little, and take a fifth of the start
    reached.note_functions_of_tvm()
    from fuzzer.lanes import warmup

    versions = warmup.warm_up(toolchain, GraphLanguage(kind))
    if preload:  # after the warm-up: tests shall find what this file breaks
        try:
            versions |= execute(Preload(*preload))
        except PreloadFailed as error:
            control.send(json.dumps({"failed": str(error)}).encode())
            return
    importlib.import_module("fuzzer.children.script")  # imported once, not in each child
    from fuzzer.children.job import collect_between_cases_only

    collect_between_cases_only()
    control.send(json.dumps({"versions": versions}).encode())
    serve(control)


if __name__ == "__main__":
    main()
