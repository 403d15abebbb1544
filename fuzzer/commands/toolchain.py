"""`fuzz toolchain`: installs and checks other releases of TVM, in which the same lanes run."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from fuzzer.commands.options import JsonFlag
from fuzzer.evaluation import toolchain_check as checking
from fuzzer.isolate.fleet import Fleet
from fuzzer.system import temporary
from fuzzer.system.child_environment import inherited
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.help_text import GroupedCommand
from fuzzer.system.terminal import echo, next_line, print_json, say
from fuzzer.toolchains import install, registry, relay
from fuzzer.toolchains.registry import ToolchainRecord
from fuzzer.toolchains.toolchain import HOST_NAME, GraphLanguage, own_environment
from generators.graph import Invalid

toolchain = typer.Typer(
    help="Other releases of TVM, in which the same lanes run.", add_completion=False, rich_markup_mode=None
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of the toolchain.")]


@toolchain.callback()
def group() -> None:
    """Other releases of TVM, in which the same lanes run."""


@toolchain.command(cls=GroupedCommand)
def add(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="A release of apache-tvm (0.26.0), relay, or, with --python, any name."),
    ],
    python: Annotated[Path | None, typer.Option(metavar="PATH", help="The interpreter of your own build.")] = None,
    env: Annotated[
        list[str] | None, typer.Option(metavar="K=V", help="With --python: an environment variable for it. Repeatable.")
    ] = None,
) -> None:
    """Install a release of TVM, or the last one with Relay, in its own environment; or add your own build."""
    if python is None and env:
        raise Invalid("--env needs --python: difftvm sets the environment of what it installs")
    began = time.monotonic()
    if python is not None:
        record = install.add_own(name, python, _environment(env or []), _print_progress)
    elif name == relay.NAME:
        record = install.add_relay(_print_progress)
    else:
        record = install.add_release(name, _print_progress)
    echo(f"{_described(record)}, in {time.monotonic() - began:.0f} s; {next_line('toolchain', 'check', name)}")


@toolchain.command("list", cls=GroupedCommand)
def list_all(json: JsonFlag = False) -> None:
    """List the toolchains."""
    records: list[ToolchainRecord | str] = [_read_record(name) for name in registry.names()]
    if json:
        print_json([each for each in records if isinstance(each, ToolchainRecord)])
    else:
        echo(f"{HOST_NAME}: TVM {registry.host_release() or '(your own build)'}, {sys.executable}")
        for each in records:
            echo(f"{_described(each)}, {each.python}" if isinstance(each, ToolchainRecord) else f"BROKEN {each}")
        echo(
            next_line("run", "--toolchain", registry.names()[0]) if records else next_line("toolchain", "add", "0.26.0")
        )


@toolchain.command(cls=GroupedCommand)
def remove(name: Name) -> None:
    """Remove a toolchain and its environment."""
    registry.remove(name)
    echo(f"removed {name}; {next_line('toolchain', 'list')}")


@toolchain.command(
    "python", cls=GroupedCommand, context_settings={"allow_extra_args": True, "allow_interspersed_args": False}
)
def run_python(
    name: Name,
    context: typer.Context,
    json: Annotated[
        bool, typer.Option("--json", help="Print the exit code and the output as JSON; before NAME.")
    ] = False,
) -> None:
    """Run a toolchain's Python in its environment: `fuzz toolchain python relay repro.py`.

    The arguments after NAME go to Python. The exit code is the program's."""
    found = registry.find(name)
    environment = own_environment(found, inherited())
    try:
        done = subprocess.run(
            [found.python, *context.args], env=environment, capture_output=json, text=True, errors="replace"
        )
    except OSError as error:
        raise EnvironmentMissing(f"{found.python} does not start: {error.strerror}") from None
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    if json:
        print_json({"toolchain": name, "exit": code, "stdout": done.stdout, "stderr": done.stderr})
    raise typer.Exit(code)


@toolchain.command(cls=GroupedCommand)
def check(name: Name, json: JsonFlag = False) -> None:
    """Run a small case through all lanes of a toolchain. Exit code 69 if a lane fails."""
    found = registry.find(name) if registry.is_host(name) else registry.read(name).toolchain
    with Fleet(temporary.new_folder(), registry.find) as fleet:
        report = checking.check(found, fleet)
    if json:
        print_json(report)
    else:
        listed = ", ".join(f"{key} {version}" for key, version in report.versions.items())
        echo(f"{name}: {listed}; its zygote starts in {report.seconds:.1f} s")
        for lane in report.lanes:
            echo(f"  {'ok    ' if lane.passed else 'FAILED'} {lane.lane}{': ' * bool(lane.reason)}{lane.reason}")
        if not report.lanes:
            language = GraphLanguage(found.kind)
            echo(f"  difftvm has no lane for {language}; a small program was built and run when the zygote started")
        good = sum(lane.passed for lane in report.lanes)
        hint = f"; {next_line('run', '--toolchain', name, '--seconds', 60)}" if report.passed and report.lanes else ""
        echo(f"{good} of {len(report.lanes)} lanes work{hint}")
    if not report.passed:
        raise EnvironmentMissing(f"toolchain {name!r} fails on a case that every TVM should compile")


def _read_record(name: str) -> ToolchainRecord | str:
    """Read the record of a toolchain. Return what is wrong with it if that fails."""
    try:
        return registry.read(name)
    except Invalid as error:
        return str(error)


def _described(record: ToolchainRecord) -> str:
    size = f", {record.size / 1e6:.0f} MB" if record.size else ""
    return f"{record.name}: TVM {record.versions.get('tvm', '?')} ({record.kind}){size}"


def _environment(settings: list[str]) -> dict[str, str]:
    for setting in settings:
        if not setting.partition("=")[0] or "=" not in setting:
            raise Invalid(f"--env {setting!r} is not of the form K=V")
    return {key: value for key, _, value in (setting.partition("=") for setting in settings)}


def _print_progress(text: str) -> None:
    say(text)
