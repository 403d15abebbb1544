"""What the rule of the gate forbids a test, and what it permits."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import gate_rules
import pytest
from gate_rules import OF_THIS_RUN, PROGRAMS, ROOT, WATCH, Broken, Watch
from parts import GATE


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    """One whose home and temporary folder are below `tmp_path`. It is no audit hook: tests call it."""
    return Watch(tmp_path / "home", tmp_path / "tmp")


@pytest.mark.parametrize(
    ("event", "arguments", "says"),
    [
        ("socket.connect", (None, ("192.0.2.1", 80)), "connects to 192.0.2.1; the gate has no network"),
        ("socket.sendto", (None, ("2001:db8::1", 53, 0, 0)), "connects to 2001:db8::1; the gate has no network"),
        ("socket.getaddrinfo", ("example.org", 443), "looks up example.org; the gate has no network"),
        ("socket.gethostbyname", ("example.org",), "looks up example.org; the gate has no network"),
        ("os.system", (b"ls",), "gives b'ls' to a shell; start the program itself"),
        (
            "subprocess.Popen",
            ("/usr/bin/apt-get", ["apt-get"], None, None),
            "starts apt-get; the gate installs nothing",
        ),
        (
            "subprocess.Popen",
            (sys.executable, [sys.executable, "-P", "-m", "pip", "list"], None, None),
            f"starts {Path(sys.executable).name}; the gate installs nothing",
        ),
        ("subprocess.Popen", (None, ["/bin/ls"], None, None), "starts ls, which the README does not require"),
        ("os.exec", ("/bin/ls", ["ls"], None), "starts ls, which the README does not require"),
        ("open", ("HOME/.cache/x", "w", os.O_WRONLY), "writes .cache/x in the user's home"),
        ("os.mkdir", ("HOME/.config", 0o777, -1), "writes .config in the user's home"),
        (
            "open",
            ("TMP/fixed/x", "w", os.O_CREAT),
            "writes fixed in the temporary folder, a name that is not drawn by tempfile",
        ),
    ],
)
def test_what_a_test_of_the_gate_may_not_do(
    watch: Watch, tmp_path: Path, event: str, arguments: tuple[object, ...], says: str
) -> None:
    folders = {"HOME": str(tmp_path / "home"), "TMP": str(tmp_path / "tmp")}
    given = [
        each.replace("HOME", folders["HOME"]).replace("TMP", folders["TMP"]) if isinstance(each, str) else each
        for each in arguments
    ]
    watch.hook(event, tuple(given))  # no test runs
    with pytest.raises(Broken) as caught, watch.during_a_test():
        watch.hook(event, tuple(given))
    assert str(caught.value) == says


def test_what_a_test_of_the_gate_may_do(watch: Watch, tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    with watch.during_a_test():
        watch.hook("socket.connect", (None, ("127.0.0.1", 80)))
        watch.hook("socket.connect", (None, "/a/unix/socket"))
        watch.hook("socket.getaddrinfo", ("localhost", 80))
        watch.hook("socket.getaddrinfo", (None, 80))
        for program in (*PROGRAMS, "/bin/sh", sys.executable, "/nonexistent/program", str(temporary / "its-own")):
            watch.hook("subprocess.Popen", (program, [program], None, None))
        watch.hook("open", (str(tmp_path / "home" / "read"), "r", os.O_RDONLY))
        watch.hook("open", (str(ROOT / ".pytest_cache" / "x"), "w", os.O_WRONLY))
        watch.hook("open", (3, "w", os.O_WRONLY))
        watch.hook("tempfile.mkdtemp", (str(temporary / "drawn"),))
        for name in ("drawn/x", "pytest-of-root/x", "difftvm-tests-1/x"):
            watch.hook("open", (str(temporary / name), "w", os.O_WRONLY))


def test_what_the_test_hides_fails_it_all_the_same(watch: Watch) -> None:
    """The product takes many errors of the system for an answer."""

    def look() -> None:
        with watch.during_a_test(), contextlib.suppress(OSError):
            watch.hook("subprocess.Popen", ("/bin/ls", ["ls"], None, None))

    with pytest.raises(Broken, match=r"^starts ls, which"):
        look()


def test_the_hook_watches_this_very_test() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client, pytest.raises(Broken, match="no network"):
        client.connect(("192.0.2.1", 9))
    with pytest.raises(Broken, match="which the README does not require"):
        subprocess.run(["/bin/ls"])
    fixed = Path(tempfile.gettempdir(), "a-fixed-name-of-a-test")
    with pytest.raises(Broken, match="not drawn by tempfile"):
        fixed.mkdir()
    assert len(WATCH.broken) == 3
    WATCH.broken.clear()  # this test has seen them


@pytest.fixture
def refused() -> str:
    with pytest.raises(Broken) as caught:
        subprocess.run(["/bin/ls"])
    WATCH.broken.clear()
    return str(caught.value)


def test_fixtures_are_watched(refused: str) -> None:
    assert refused == "starts ls, which the README does not require"


def test_a_test_that_takes_its_alarm_for_an_answer_fails() -> None:
    with contextlib.suppress(OSError):
        gate_rules._hangs(0, None)
    assert WATCH.broken == ["no result after 600.0 s"]
    WATCH.broken.clear()


def test_a_link_to_the_temporary_folder_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    watch = Watch(tmp_path / "home", tmp_path / "link")
    for name in ("real", "link"):
        with pytest.raises(Broken, match="writes fixed in"), watch.during_a_test():
            watch.hook("os.mkdir", (str(tmp_path / name / "fixed"), 0o777, -1))


def test_no_test_depends_on_the_variables_of_the_user() -> None:
    assert not [name for name in os.environ if name.startswith(("PYTHON", "PIP_"))]


def test_the_cache_of_the_user_is_not_read(request: pytest.FixtureRequest) -> None:
    """It may have toolchains, and one of them may be broken."""
    if request.config.getoption("--part") == GATE:
        assert Path(os.environ["XDG_CACHE_HOME"]).parent.name.startswith(OF_THIS_RUN)


def test_signals_that_the_caller_ignores_are_not_ignored_in_tests() -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGHUP, signal.SIGINT)}
    try:
        for number in before:
            signal.signal(number, signal.SIG_IGN)
        gate_rules.take_usual_signals()
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_DFL
        assert signal.getsignal(signal.SIGINT) == signal.default_int_handler
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_the_home_is_empty_before_and_after_each_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "another")  # `use` sets it
    home = gate_rules.Home()
    home.check()
    home.use(tmp_path / "home")
    assert os.environ["HOME"] == str(tmp_path / "home")
    home.check()
    write = "import pathlib; home = pathlib.Path.home(); (home / 'a').mkdir(); (home / 'a' / 'b').write_text('c')"
    subprocess.run([sys.executable, "-c", write], check=True)
    (tmp_path / "home" / "link").symlink_to(tmp_path)
    with pytest.raises(Broken, match=r"^leaves a, link in the home$"):
        home.check()
    home.check()
    assert tmp_path.is_dir()


def test_child_processes_have_no_network_either(request: pytest.FixtureRequest) -> None:
    """A program without the hook: it asks for its interfaces, and connects to itself and to another machine."""
    if request.config.getoption("--part") != GATE:
        pytest.skip("only `--part gate` takes the network from child processes")
    if not gate_rules.has_loopback_alone():
        pytest.skip("this kernel does not permit a network namespace")
    ask = """
import socket

assert [name for _, name in socket.if_nameindex()] == ["lo"]
with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
    pass
with socket.socket() as other:
    print(other.connect_ex(("192.0.2.1", 80)))
"""
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout == f"{errno.ENETUNREACH}\n"
