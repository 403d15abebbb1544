"""A child of the zygote that is hostile changes nothing outside its own folder, signals no other process, and cannot
lift its limits."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import subprocess
import termios
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fuzzer.isolate import script
from fuzzer.isolate.child_process import Bounds
from fuzzer.isolate.executor import Executor
from fuzzer.system import confinement
from fuzzer.toolchains.toolchain import HOST

pytestmark = pytest.mark.skipif(
    confinement.version() < confinement.SIGNALS, reason=confinement.in_words(confinement.version())
)

ADD_KEY = {"x86_64": 248, "aarch64": 217}

HOSTILE = """
    import ctypes, fcntl, json, os, resource, signal, socket, stat, struct, subprocess, sys, tempfile
    from pathlib import Path

    places, pids, addresses = json.loads({places!r}), json.loads({pids!r}), json.loads({addresses!r})
    memory, semaphores, queue, named, terminal = json.loads({things!r})
    done = []

    def attempt(what, action):
        try:
            action()
            done.append(what)
        except (OSError, ValueError):  # ValueError: setrlimit(2) may not
            pass

    for place in places:
        folder = Path(place)
        attempt(f"write {{place}}", lambda: (folder / "new").write_text("x"))
        attempt(f"folder {{place}}", lambda: (folder / "folder").mkdir())
        attempt(f"link {{place}}", lambda: (folder / "link").symlink_to("/"))
        attempt(f"pipe {{place}}", lambda: os.mkfifo(folder / "pipe"))
        attempt(f"delete {{place}}", lambda: (folder / "mine").unlink())
        attempt(f"truncate {{place}}", lambda: os.truncate(folder / "mine", 0))
        attempt(f"append {{place}}", lambda: open(folder / "mine", "a"))
        attempt(f"rename {{place}}", lambda: (folder / "mine").rename(folder / "other"))
        attempt(f"steal {{place}}", lambda: (folder / "mine").rename("stolen"))
        attempt(f"replace {{place}}", lambda: folder.rmdir())
    for pid in pids:
        for number in (0, signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
            attempt(f"signal {{number}} to {{pid}}", lambda: os.kill(pid, number))
        attempt(f"memory of {{pid}}", lambda: open(f"/proc/{{pid}}/mem", "r+b"))
        attempt(f"limit {{pid}}", lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1)))
        attempt(f"adjust {{pid}}", lambda: Path(f"/proc/{{pid}}/oom_score_adj").write_text("1000"))
    libc = ctypes.CDLL(None)
    libc.shmat.restype = ctypes.c_ssize_t
    left = {{  # of the kernel's, until somebody removes it
        "shared memory": lambda: libc.shmget(0, 4096, 0o1600),
        "semaphores": lambda: libc.semget(0, 1, 0o1600),
        "queue": lambda: libc.msgget(0, 0o1600),
        "POSIX queue": lambda: libc.mq_open(b"/difftvm", os.O_CREAT | os.O_RDWR, 0o600, None),
        "key": lambda: libc.syscall({add_key}, b"user", b"difftvm", b"x", 1, -4),
    }}
    done += [what for what, make in left.items() if make() >= 0]
    add, message, at_once = struct.pack("hhh", 0, 1, 0), struct.pack("l", 1) + bytes(8), 0o4000
    used = {{  # of the user's other programs
        "write memory": lambda: libc.shmat(memory, None, 0),
        "add": lambda: libc.semop(semaphores, add, 1),
        "add in time": lambda: libc.semtimedop(semaphores, add, 1, None),
        "send": lambda: libc.msgsnd(queue, message, 8, at_once),
        "receive": lambda: libc.msgrcv(queue, message, 8, 0, at_once),
        "remove memory": lambda: libc.shmctl(memory, 0, None),
        "remove semaphores": lambda: libc.semctl(semaphores, 0, 0),
        "remove queue": lambda: libc.msgctl(queue, 0, None),
        "remove POSIX queue": lambda: libc.mq_unlink(named.encode()),
    }}
    done += [what for what, use in used.items() if use() >= 0]
    for kind in ("CHR", "BLK"):
        attempt(f"device {{kind}}", lambda: os.mknod(kind, 0o600 | getattr(stat, f"S_IF{{kind}}"), os.makedev(7, 0)))
    controls = os.open(terminal, os.O_RDONLY | os.O_NOCTTY)
    attempt("settings of a terminal", lambda: fcntl.ioctl(controls, 0x5402, bytes(60)))
    attempt("typing", lambda: fcntl.ioctl(controls, 0x5412, b"x"))
    for kind in ("CPU", "FSIZE", "DATA"):
        number = getattr(resource, f"RLIMIT_{{kind}}")
        most = resource.getrlimit(number)[1]
        attempt(f"limit of {{kind}}", lambda: resource.setrlimit(number, (most, most)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # as runtimes of sanitizers do
    below = subprocess.check_output(["cat", "/proc/self/status"], text=True)
    for status in (Path("/proc/self/status").read_text(), below):
        if int(status.partition("CapPrm:")[2].split()[0], 16) & ~2:
            done.append("capabilities")
    for place in places[:1]:
        with open(Path(place) / "mine") as mine:
            attempt("lease", lambda: fcntl.fcntl(mine, fcntl.F_SETLEASE, fcntl.F_RDLCK))
            attempt("flags", lambda: fcntl.ioctl(mine, 0x40086602, struct.pack("i", 0x40)))
    attempt("survive a short memory", lambda: Path("/proc/self/oom_score_adj").write_text("0"))
    attempt("survive it in a thread", lambda: Path("/proc/thread-self/oom_score_adj").write_text("0"))
    for address in addresses:
        with socket.socket(socket.AF_UNIX) as end:
            attempt(f"connect to {{address}}", lambda: end.connect(address))
    if any(os.readlink(f"/proc/self/fd/{{each}}").startswith("pipe:") for each in os.listdir("/proc/self/fd")[:-1]):
        done.append("a pipe of the zygote")

    Path("own").write_text("x")  # its own folder and processes are its own
    Path("own-folder").mkdir()
    Path("own").rename("own-folder/own")
    (Path(tempfile.mkdtemp()) / "x").write_text("x")
    Path(os.environ["HOME"], "x").write_text("x")
    Path("/dev/null").write_text("x")
    Path("/proc/self/clear_refs").write_text("5")
    below = subprocess.Popen(["sleep", "60"])
    below.kill()
    below.wait()
    Path("x.c").write_text("int main(void) {{ return 0; }}")
    subprocess.run(["cc", "x.c", "-o", "x"], check=True)
    if done:
        Path("done.txt").write_text("\\n".join(done))
    sys.exit(11 if done else 10)
"""


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Folders of the user's that have a file: one of them is the home folder, one a campaign's."""
    made = [tmp_path / name for name in ("campaign", "home")]
    for folder in made:
        folder.mkdir()
        (folder / "mine").write_text("mine")
    return made


@dataclass(frozen=True, slots=True)
class OfTheKernel:
    """What another program of the user's has in the kernel: the numbers of a System V segment, of semaphores and of a
    queue, the name of a POSIX queue, and both sides of a terminal."""

    memory: int
    semaphores: int
    queue: int
    named: str
    controller: int
    terminal: int

    def are_there(self) -> bool:
        libc, room = ctypes.CDLL(None), ctypes.create_string_buffer(1024)
        counts = [libc.shmctl(self.memory, 2, room), libc.msgctl(self.queue, 2, room)]  # IPC_STAT
        return counts == [0, 0] and libc.semctl(self.semaphores, 0, 12) == 0  # GETVAL


@pytest.fixture
def of_the_kernel() -> Iterator[OfTheKernel]:
    libc, named = ctypes.CDLL(None), f"/difftvm-{os.getpid()}"
    queue = libc.mq_open(named.encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
    made = libc.shmget(0, 4096, 0o1600), libc.semget(0, 1, 0o1600), libc.msgget(0, 0o1600)
    of_terminal = os.openpty()
    yield OfTheKernel(*made, named, *of_terminal)
    libc.shmctl(made[0], 0, None), libc.semctl(made[1], 0, 0), libc.msgctl(made[2], 0, None)
    for descriptor in (queue, *of_terminal):
        os.close(descriptor)
    libc.mq_unlink(named.encode())


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[str]:
    """The address of a server in the file system."""
    path = str(tmp_path / "daemon")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        yield path


def hostile(folders: list[Path], pids: list[int], addresses: list[str], kernel: OfTheKernel) -> str:
    places = json.dumps([str(each) for each in (*folders, "/tmp", "/dev/shm", "/var/tmp")])
    things = (kernel.memory, kernel.semaphores, kernel.queue, kernel.named, os.ttyname(kernel.terminal))
    return textwrap.dedent(HOSTILE).format(
        places=places,
        pids=json.dumps(pids),
        addresses=json.dumps(addresses),
        things=json.dumps(things),
        add_key=ADD_KEY[os.uname().machine],
    )


@pytest.fixture
def sibling() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


@pytest.mark.programs("cc")
@pytest.mark.tvm
def test_a_child_of_the_zygote(
    executor: Executor, folders: list[Path], sibling: subprocess.Popen[bytes], daemon: str, of_the_kernel: OfTheKernel
) -> None:
    address, before = f"\0difftvm-{os.getpid()}", termios.tcgetattr(of_the_kernel.terminal)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        pids = [os.getpid(), executor._zygote.pid, sibling.pid, executor._fork().pid]
        ran = executor.run_script(hostile([*folders, executor._scratch], pids, [address, daemon], of_the_kernel))
    assert ran.exit_code == 10, ran
    assert [(each / "mine").read_text() for each in folders] == ["mine", "mine"]
    assert [os.listdir(each) for each in folders] == [["mine"], ["mine"]]
    assert sibling.poll() is None
    assert of_the_kernel.are_there()
    assert termios.tcgetattr(of_the_kernel.terminal) == before


@pytest.mark.programs("cc")
def test_a_script_in_a_new_interpreter(
    tmp_path: Path, folders: list[Path], sibling: subprocess.Popen[bytes], daemon: str, of_the_kernel: OfTheKernel
) -> None:
    before = termios.tcgetattr(of_the_kernel.terminal)
    source = hostile(folders, [os.getpid(), sibling.pid], ["\0nobody", daemon], of_the_kernel)
    ran = script.run(source, HOST, Bounds(), tmp_path / "scripts")
    assert ran.exit_code == 10, ran
    assert [os.listdir(each) for each in folders] == [["mine"], ["mine"]]
    assert sibling.poll() is None
    assert of_the_kernel.are_there()
    assert termios.tcgetattr(of_the_kernel.terminal) == before


def test_a_script_for_a_gpu_may_ask_the_daemon_of_the_driver(tmp_path: Path, daemon: str) -> None:
    source = f"import socket, sys\nsocket.socket(socket.AF_UNIX).connect({daemon!r})\nsys.exit(1)"
    assert script.run(source, HOST, Bounds(), tmp_path / "scripts", targets=["llvm", "cuda"]).shows
