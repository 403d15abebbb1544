"""A child of the zygote that is hostile writes outside its own folder nothing, and signals no other process."""

from __future__ import annotations

import json
import os
import subprocess
import textwrap
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
    import ctypes, fcntl, json, os, resource, signal, socket, subprocess, sys, tempfile
    from pathlib import Path

    places, pids, address = json.loads({places!r}), json.loads({pids!r}), {address!r}
    done = []

    def attempt(what, action):
        try:
            action()
            done.append(what)
        except OSError:
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
    left = {{  # of the kernel's, until somebody removes it
        "shared memory": lambda: libc.shmget(0, 4096, 0o1600),
        "semaphores": lambda: libc.semget(0, 1, 0o1600),
        "queue": lambda: libc.msgget(0, 0o1600),
        "POSIX queue": lambda: libc.mq_open(b"/difftvm", os.O_CREAT | os.O_RDWR, 0o600, None),
        "key": lambda: libc.syscall({add_key}, b"user", b"difftvm", b"x", 1, -4),
    }}
    done += [what for what, make in left.items() if make() >= 0]
    for place in places[:1]:
        with open(Path(place) / "mine") as mine:
            attempt("lease", lambda: fcntl.fcntl(mine, fcntl.F_SETLEASE, fcntl.F_RDLCK))
    with socket.socket(socket.AF_UNIX) as end:
        attempt("connect", lambda: end.connect(address))

    Path("own").write_text("x")  # its own folder and processes are its own
    Path("own-folder").mkdir()
    Path("own").rename("own-folder/own")
    (Path(tempfile.mkdtemp()) / "x").write_text("x")
    Path(os.environ["HOME"], "x").write_text("x")
    Path("/dev/null").write_text("x")
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


def hostile(folders: list[Path], pids: list[int], address: str) -> str:
    places = json.dumps([str(each) for each in (*folders, "/tmp", "/dev/shm", "/var/tmp")])
    return textwrap.dedent(HOSTILE).format(
        places=places, pids=json.dumps(pids), address=address, add_key=ADD_KEY[os.uname().machine]
    )


@pytest.fixture
def sibling() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "600"])


@pytest.mark.programs("cc")
@pytest.mark.tvm
def test_a_child_of_the_zygote(executor: Executor, folders: list[Path], sibling: subprocess.Popen[bytes]) -> None:
    import socket

    address = f"\0difftvm-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        pids = [os.getpid(), executor._zygote.pid, sibling.pid, executor._fork().pid]
        ran = executor.run_script(hostile([*folders, executor._scratch], pids, address))
    assert ran.exit_code == 10, ran
    assert [(each / "mine").read_text() for each in folders] == ["mine", "mine"]
    assert [os.listdir(each) for each in folders] == [["mine"], ["mine"]]
    assert sibling.poll() is None
    sibling.kill()
    sibling.wait()


@pytest.mark.programs("cc")
def test_a_script_in_a_new_interpreter(tmp_path: Path, folders: list[Path], sibling: subprocess.Popen[bytes]) -> None:
    source = hostile(folders, [os.getpid(), sibling.pid], "\0nobody").replace('"/dev/shm", ', "")
    ran = script.run(source, HOST, Bounds(), tmp_path / "scripts")
    assert ran.exit_code == 10, ran
    assert [os.listdir(each) for each in folders] == [["mine"], ["mine"]]
    assert sibling.poll() is None
    sibling.kill()
    sibling.wait()
