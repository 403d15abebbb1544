"""Add toolchains: a virtual environment with a release of TVM or with the last TVM that had Relay, or an own build."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from packaging.version import Version

from fuzzer.system import secrets, temporary
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.toolchains import registry, relay
from fuzzer.toolchains.registry import ToolchainRecord
from fuzzer.toolchains.toolchain import GraphLanguage, Toolchain, toolchain_environment
from generators.graph import Invalid

Tell = Callable[[str], None]
"""Called with a line about the step that begins."""

AS_HOST = ("torch", "numpy", "ml_dtypes", "msgspec", "multiprocess", "psutil", "safetensors", "onnx", "onnxscript")
"""The packages that children need beside TVM. They get the host's versions, so that toolchains differ in TVM only.
TVM's MetaSchedule imports psutil, which releases of apache-tvm do not require."""

NEEDED = ("msgspec", "multiprocess", "numpy", "ml_dtypes", "psutil", "safetensors", "torch")
"""The packages, beside tvm, that an interpreter must have to run children."""

OLDEST_PYTHON = (3, 11)
TAIL = 4
SHOWN = 4
PACKAGE = "apache-tvm"
_LISTED = re.compile(r"^Available versions: (.*)$", re.M)
_OFFERED = re.compile(r"satisfies the requirement (\S+) \(from versions: (.*?)\)")
_RELEASE = re.compile(r"\d+(\.\d+)+([a-z.]+\d+)*")


class NotOffered(EnvironmentMissing):
    """The package index has no such version of a package."""


def add_release(release: str, tell: Tell) -> ToolchainRecord:
    """Install a release of apache-tvm from the package index: about a minute and 1.4 GB."""
    if not _RELEASE.fullmatch(release):
        raise Invalid(f"{release!r} is neither a release of apache-tvm (0.26.0, say) nor relay; own builds: --python")
    with registry.new_folder(release) as folder:
        check_release(release, folder)
        python = virtual_environment(folder, sys.executable, tell)
        tell(f"installing apache-tvm {release} ...")
        pip(python, "--no-deps", f"apache-tvm=={release}")
        tell(f"installing torch {_as_host('torch').partition('==')[2]} and what else it needs ...")
        pip(python, *map(_as_host, AS_HOST), "typing_extensions", *_ffi(folder))
        return _finished(Toolchain(release, str(python)), tell)


def check_release(release: str, folder: Path) -> None:
    """Raise `NotOffered` where pip, under the user's settings, finds no such release.

    Nothing is installed. `folder` is pip's target, because pip otherwise refuses to work in a Python that a Linux
    distribution manages."""
    pip(Path(sys.executable), "--dry-run", "--quiet", "--no-deps", "--target", str(folder), f"{PACKAGE}=={release}")


def releases_on_the_index() -> list[str]:
    """The releases of apache-tvm that the package index has for this Python, oldest first. Post-releases, which repair
    the packaging only (0.27.0.post1), replace their release. Raise `EnvironmentMissing`."""
    command = [sys.executable, "-P", "-m", "pip", "index", "versions", PACKAGE, "--disable-pip-version-check"]
    found = _LISTED.search(_run(command, "pip"))
    listed = sorted(found[1].split(", "), key=Version) if found else []
    return list({Version(release).base_version: release for release in listed}.values())


def add_relay(tell: Tell) -> ToolchainRecord:
    """Install TVM 0.17, the last one with Relay that the package index has, in the wheel of another package: about a
    minute and 1.8 GB."""
    with registry.new_folder(relay.NAME) as folder:
        python = virtual_environment(folder, relay.interpreter(), tell)
        tell("installing torch and what else it needs ...")
        pip(python, *relay.PACKAGES, *map(_as_host, relay.AS_HOST))
        tell(f"installing TVM 0.17 ({relay.WHEEL}) ...")
        pip(python, "--no-deps", relay.WHEEL)
        return _finished(
            Toolchain(relay.NAME, str(python), relay.environment(folder, python), GraphLanguage.RELAY), tell
        )


def add_own(name: str, python: Path, environment: Mapping[str, str], tell: Tell) -> ToolchainRecord:
    """Add a build of TVM that the user made. Nothing is installed; the interpreter must have what children need."""
    with registry.new_folder(name):
        found = shutil.which(python)
        if found is None:
            raise Invalid(f"{python} is not a program")
        return _finished(Toolchain(name, os.path.abspath(found), environment), tell)


def _finished(toolchain: Toolchain, tell: Tell) -> ToolchainRecord:
    """Ask the interpreter for its versions and its graph language, and save the toolchain."""
    tell("asking it for its versions ...")
    versions, kind = versions_of(toolchain)
    return registry.save(Toolchain(toolchain.name, toolchain.python, toolchain.environment, kind), versions)


def virtual_environment(folder: Path, python: str, tell: Tell) -> Path:
    """Make a virtual environment; return its interpreter.

    uv makes one in a second, also where Python has no ensurepip. In both cases pip installs the packages: uv does not
    read pip's settings, and would choose builds of torch other than the host's."""
    tell(f"making a virtual environment in {folder} ...")
    target = folder / "venv"
    if uv := shutil.which("uv"):
        _run([uv, "venv", "--quiet", "--seed", "--python", python, str(target)], "uv venv")
    else:
        _run([python, "-P", "-m", "venv", str(target)], "python -m venv")
    return target / "bin" / "python"


def pip(python: Path, *arguments: str) -> None:
    """Run `pip install`. pip also compiles to bytecode, which takes a third of its time: with PYTHONDONTWRITEBYTECODE
    set, nothing else writes bytecode, and without it each start of a zygote takes twice as long.

    Raise `EnvironmentMissing` with one sentence: `NotOffered` where the index has no such version."""
    try:
        _run(
            [str(python), "-P", "-m", "pip", "install", "--disable-pip-version-check", "--no-input", *arguments], "pip"
        )
    except EnvironmentMissing as error:
        found = _OFFERED.search(str(error))
        if found is None:
            raise
        package, _, version = found[1].partition("==")
        offered = found[2].split(", ")
        if offered == ["none"]:
            raise EnvironmentMissing(f"pip finds no release of {package}: is the package index reachable?") from None
        newest = ", ".join(offered[-SHOWN:])
        raise NotOffered(f"pip finds no {package} {version}; the newest that it finds are {newest}") from None


def _run(command: Sequence[str], what: str) -> str:
    """What the command prints. Raise `EnvironmentMissing` with the last lines of that where it fails."""
    variables = {**os.environ, **secrets.removed()}  # a package index may ask for a password
    environment = {key: value for key, value in variables.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    except OSError as error:
        raise EnvironmentMissing(f"{what} does not start: {error}") from None
    if done.returncode:
        tail = [line.strip() for line in done.stdout.splitlines() if line.strip()][-TAIL:]
        raise EnvironmentMissing(f"{what} failed: {' | '.join(tail)}")
    return done.stdout


def _as_host(package: str) -> str:
    """A requirement for the host's version of a package, without the part that names a build (2.13.0+cpu)."""
    try:
        version = importlib.metadata.version(package).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        raise EnvironmentMissing(f"the host has no {package}: a toolchain needs the same version") from None
    return f"{package}=={version}"


def _ffi(folder: Path) -> list[str]:
    """A requirement for the oldest apache-tvm-ffi that the release accepts: the release was built with it. Newer ones
    are accepted too, but TVM 0.27 with 0.1.15 crashes on modules with constants."""
    site = [str(path) for path in folder.glob("venv/lib/python*/site-packages")]
    installed = importlib.metadata.distributions(name="apache-tvm", path=site)
    required = [line for found in installed for line in found.requires or ()]
    oldest = [found[1] for line in required if (found := re.match(r"apache-tvm-ffi\s*>=\s*([\w.]+)", line))]
    return [f"apache-tvm-ffi=={version}" for version in oldest]


_PROBE = """
import importlib, importlib.util, json, platform, sys
lacking = [name for name in sys.argv[1:] if importlib.util.find_spec(name) is None]
if lacking:
    sys.exit(f"it lacks {', '.join(lacking)}")
found = {"python": platform.python_version()}
for name in ("torch", "tvm", "tvm_ffi", "onnx", "numpy"):
    if importlib.util.find_spec(name):
        found[name] = str(importlib.import_module(name).__version__)
relay = importlib.util.find_spec("tvm.relay") is not None
print(json.dumps([found, "relay" if relay else "relax"]))
"""


def versions_of(toolchain: Toolchain) -> tuple[dict[str, str], GraphLanguage]:
    """The versions of the interpreter and its packages, and its graph language. Raise `Invalid` where it is not a
    Python interpreter, `EnvironmentMissing` where it is too old or lacks a package."""
    version, _ = _last_lines(toolchain, "import platform; print(platform.python_version())")
    if not re.fullmatch(r"\d+\.\d+\.\d+\S*", version):
        raise Invalid(f"{toolchain.python} is not a Python interpreter")
    refused = f"{toolchain.python} cannot be toolchain {toolchain.name!r}"
    if tuple(map(int, version.split(".")[:2])) < OLDEST_PYTHON:
        needed = ".".join(map(str, OLDEST_PYTHON))
        raise EnvironmentMissing(f"{refused}: it is Python {version}; difftvm needs {needed}")
    answer, complaint = _last_lines(toolchain, _PROBE, *NEEDED, "tvm")
    try:
        found, kind = json.loads(answer)
        return dict(found), GraphLanguage(kind)
    except (ValueError, TypeError):
        raise EnvironmentMissing(f"{refused}: {complaint or 'it prints nothing'}") from None


def _last_lines(toolchain: Toolchain, program: str, *arguments: str) -> tuple[str, str]:
    """The last lines that a program writes to stdout and to stderr in the toolchain."""
    with temporary.folder() as scratch:
        environment = toolchain_environment(toolchain, scratch)
        command = [toolchain.python, "-c", program, *arguments]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", env=environment, cwd=scratch
            )
        except OSError:
            return "", ""
    out, err = ([line.strip() for line in text.splitlines() if line.strip()] for text in (done.stdout, done.stderr))
    return "".join(out[-1:]), "".join(err[-1:])
