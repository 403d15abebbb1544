"""Installations, with tools that only write down how they were called; and interpreters of all sorts."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from wheels import add_wheel, index_of

from fuzzer.system.child_environment import anonymous
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.toolchains import install, registry, relay
from fuzzer.toolchains.toolchain import HOST, GraphLanguage, Toolchain, toolchain_environment
from generators.graph import Invalid

METADATA = """Metadata-Version: 2.1
Name: apache-tvm
Version: 0.26.0
Requires-Dist: apache-tvm-ffi>=0.1.13.post2
Requires-Dist: apache-tvm-ffi-extras>=2; extra == "all"
"""
VERSIONS = {"python": "3.11.7", "tvm": "0.26.0"}


def quiet(text: str) -> None: ...


@pytest.fixture
def calls(cache: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that an installation runs; none of them is. The interpreter says VERSIONS."""
    commands: list[list[str]] = []

    def run(command: Sequence[str], what: str) -> None:
        commands.append([word.replace(str(cache), "CACHE") for word in command])
        if "apache-tvm==0.26.0" in command and "--dry-run" not in command:
            metadata = cache / "0.26.0/venv/lib/python3.11/site-packages/apache_tvm-0.26.0.dist-info/METADATA"
            metadata.parent.mkdir(parents=True)
            metadata.write_text(METADATA)

    monkeypatch.setattr(install, "_run", run)
    monkeypatch.setattr(install, "versions_of", lambda toolchain: (VERSIONS, toolchain.kind))
    monkeypatch.setattr("shutil.which", lambda name: None)
    return commands


def pip(name: str, python: str = "") -> list[str]:
    return [
        python or f"CACHE/{name}/venv/bin/python",
        "-P",
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-input",
    ]


def hosts(package: str) -> str:
    return f"{package}=={importlib.metadata.version(package).partition('+')[0]}"


def test_a_release_has_the_hosts_torch_and_the_ffi_that_it_was_built_with(calls: list[list[str]], cache: Path) -> None:
    record = install.add_release("0.26.0", quiet)
    assert calls == [
        [
            *pip("host", sys.executable),
            "--dry-run",
            "--quiet",
            "--no-deps",
            "--target",
            "CACHE/0.26.0",
            "apache-tvm==0.26.0",
        ],
        [sys.executable, "-P", "-m", "venv", "CACHE/0.26.0/venv"],
        [*pip("0.26.0"), "--no-deps", "apache-tvm==0.26.0"],
        [*pip("0.26.0"), *map(hosts, install.AS_HOST), "typing_extensions", "apache-tvm-ffi==0.1.13.post2"],
    ]
    assert "+" not in "".join(calls[3])
    assert record.toolchain == Toolchain("0.26.0", str(cache / "0.26.0/venv/bin/python"))
    assert registry.read("0.26.0") == record


def test_uv_makes_the_environment_where_it_is_there(calls: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", {"uv": "/opt/uv"}.get)
    install.add_release("0.26.0", quiet)
    assert calls[1] == ["/opt/uv", "venv", "--quiet", "--seed", "--python", sys.executable, "CACHE/0.26.0/venv"]


def test_relay(calls: list[list[str]], monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(relay, "environment", lambda folder, python: {"PYTHONPATH": str(folder / "tvm")})
    monkeypatch.setattr(relay, "interpreter", lambda: "/opt/python3.12")
    record = install.add_relay(quiet)
    assert calls == [
        ["/opt/python3.12", "-P", "-m", "venv", "CACHE/relay/venv"],
        [*pip("relay"), *relay.PACKAGES, *map(hosts, relay.AS_HOST)],
        [*pip("relay"), "--no-deps", "bitblas==0.0.1.dev15"],
    ]
    assert record.toolchain == Toolchain(
        "relay", str(cache / "relay/venv/bin/python"), {"PYTHONPATH": str(cache / "relay/tvm")}, GraphLanguage.RELAY
    )


@pytest.mark.parametrize(("version", "expected"), [((3, 11, 7), sys.executable), ((3, 13, 0), "/bin/python3.11")])
def test_relays_interpreter(monkeypatch: pytest.MonkeyPatch, version: tuple[int, ...], expected: str) -> None:
    monkeypatch.setattr(sys, "version_info", version)
    monkeypatch.setattr("shutil.which", {"python3.11": "/bin/python3.11"}.get)
    assert relay.interpreter() == expected


def test_relay_without_an_interpreter_that_is_old_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 14, 0))
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(EnvironmentMissing, match=r"neither python3\.12 nor python3\.11 is on PATH"):
        relay.interpreter()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What pip finds: no wheel yet."""
    return index_of(tmp_path / "wheels", monkeypatch)


@pytest.mark.programs
@pytest.mark.parametrize(
    ("there", "says"),
    [
        ((), "pip finds no release of apache-tvm: is the package index reachable?"),
        (("0.25.0", "0.26.0"), "pip finds no apache-tvm 0.99.0; the newest that it finds are 0.25.0, 0.26.0"),
    ],
)
def test_a_release_that_does_not_exist_is_one_sentence_before_anything_is_built(
    cache: Path, index: Path, monkeypatch: pytest.MonkeyPatch, there: Sequence[str], says: str
) -> None:
    for release in there:
        add_wheel(index, "apache-tvm", release)
    steps: list[str] = []
    with pytest.raises(EnvironmentMissing) as caught:
        install.add_release("0.99.0", steps.append)
    assert (str(caught.value), steps) == (says, [])
    assert [path.name for path in cache.iterdir()] == [".lock"]


@pytest.mark.programs
def test_a_release_that_pip_finds_passes_and_nothing_is_installed(index: Path, tmp_path: Path) -> None:
    add_wheel(index, "apache-tvm", "0.26.0")
    install.check_release("0.26.0", tmp_path / "target")
    assert not (tmp_path / "target").exists()


@pytest.mark.parametrize("name", ["main", "0", "v0.26.0", "0.26.0 --pre", "0.26.0;x", "--help", "latest"])
def test_what_is_no_release(calls: list[list[str]], name: str) -> None:
    with pytest.raises(Invalid, match="is neither a release of apache-tvm"):
        install.add_release(name, quiet)
    assert calls == []


def test_a_tool_that_fails_is_reported_with_its_last_lines(cache: Path) -> None:
    program = "echo first; echo one; printf 'two\\n\\nthree\\n' >&2; echo four; exit 1"
    with pytest.raises(EnvironmentMissing) as caught:
        install._run(["/bin/sh", "-c", program], "pip")
    assert str(caught.value) == "pip failed: one | two | three | four"
    with pytest.raises(EnvironmentMissing, match=r"^pip does not start: .*No such file"):
        install._run(["/nonexistent/python"], "pip")


def test_a_failed_installation_leaves_nothing(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(sys, "executable", str(script(tmp_path / "false", "#!/bin/sh\nexit 1\n")))
    with pytest.raises(EnvironmentMissing, match=r"^pip failed: $"):
        install.add_release("0.26.0", quiet)
    assert [path.name for path in cache.iterdir()] == [".lock"]


# --- the stub of the driver


def test_no_module_of_the_working_directory_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ctypes.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'x').close()\n")
    monkeypatch.chdir(tmp_path)
    relay._has_driver(Path(sys.executable))
    assert not (tmp_path / "ran").exists()


@pytest.mark.programs("cc", "nm")
def test_the_stub_has_what_the_library_lacks_of_the_driver(tmp_path: Path) -> None:
    source, library = tmp_path / "tvm.c", tmp_path / "libtvm.so"
    calls = ("cuInit", "cudaMalloc", "cublasCreate")
    source.write_text("".join(f"int {name}(void); int call_{name}(void) {{ return {name}(); }}\n" for name in calls))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    folder = relay.stub(library, tmp_path / "stub")
    driver = folder / "libcuda.so.1"
    program = f"import ctypes; d = ctypes.CDLL('{driver}'); print(d.cuInit(0), *(hasattr(d, n) for n in {calls[1:]}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "100 False False\n"


def test_tools_that_are_missing_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(EnvironmentMissing, match=r"needs nm \(binutils\)$"):
        relay.stub(tmp_path / "libtvm.so", tmp_path / "stub")


# --- interpreters


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("text", ["exit 1", 'echo "$@"', "printf 'a\\nb\\n'"])
def test_what_is_no_python(cache: Path, tmp_path: Path, text: str) -> None:
    program = script(tmp_path / "program", f"#!/bin/sh\n{text}\n")
    with pytest.raises(Invalid, match=f"^{program} is not a Python interpreter$"):
        install.add_own("mine", program, {}, quiet)
    assert registry.names() == []


@pytest.mark.parametrize("program", ["/nonexistent/python", "/"])
def test_what_is_no_program(cache: Path, program: str) -> None:
    with pytest.raises(Invalid, match=f"^{program} is not a program$"):
        install.add_own("mine", Path(program), {}, quiet)


def test_a_python_that_is_too_old(cache: Path, tmp_path: Path) -> None:
    old = script(tmp_path / "python", "#!/bin/sh\necho 3.9.18\n")
    with pytest.raises(
        EnvironmentMissing, match=r"cannot be toolchain 'mine': it is Python 3\.9\.18; difftvm needs 3\.11$"
    ):
        install.add_own("mine", old, {}, quiet)


def test_a_python_that_lacks_something(cache: Path, tmp_path: Path) -> None:
    bare = script(tmp_path / "python", f'#!/bin/sh\nexec {os.path.realpath(sys.executable)} -S "$@"\n')
    with pytest.raises(
        EnvironmentMissing, match=r"it lacks msgspec, multiprocess, numpy, ml_dtypes, psutil, safetensors, torch, tvm$"
    ):
        install.add_own("mine", bare, {}, quiet)
    assert registry.names() == []


# --- what surrounds an interpreter


def test_the_host_inherits_what_children_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/users")
    monkeypatch.setenv("MY_FLAG", "1")
    environment = toolchain_environment(HOST, tmp_path)
    assert environment == {**anonymous(tmp_path / "home"), "TMPDIR": str(tmp_path)}
    assert (environment["PYTHONPATH"], "MY_FLAG" in environment) == ("/users", False)
    assert list(tmp_path.iterdir()) == [tmp_path / "home"]


@pytest.mark.parametrize("toolchain", [HOST, Toolchain("0.26.0", "/opt/python")], ids=str)
def test_nobody_inherits_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toolchain: Toolchain) -> None:
    for name in ("DIFFTVM_GITHUB_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "ghp_canary")
    assert "ghp_canary" not in toolchain_environment(toolchain, tmp_path).values()


def test_others_see_our_packages_and_no_other_tvm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/users")
    monkeypatch.setenv("TVM_LIBRARY_PATH", "/users/build")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/driver")
    plain = toolchain_environment(Toolchain("0.26.0", "/opt/python"), tmp_path)
    assert plain["PYTHONPATH"] == str(tmp_path / "packages")
    assert "TVM_LIBRARY_PATH" not in plain
    assert plain["LD_LIBRARY_PATH"] == "/driver"
    assert sorted(path.name for path in (tmp_path / "packages").iterdir()) == ["fuzzer", "generators", "oracles"]
    assert (tmp_path / "packages" / "fuzzer" / "cli.py").is_file()
    own = {"PYTHONPATH": "/opt/tvm", "TVM_LIBRARY_PATH": "/opt/build", "LD_LIBRARY_PATH": "/opt/lib", "K": "V"}
    mine = toolchain_environment(Toolchain("mine", "/opt/python", own), tmp_path)  # a second time: the links are there
    assert mine["PYTHONPATH"] == f"{tmp_path / 'packages'}:/opt/tvm"
    assert mine["LD_LIBRARY_PATH"] == "/opt/lib:/driver"
    assert (mine["TVM_LIBRARY_PATH"], mine["K"]) == ("/opt/build", "V")
