"""The command line. Each verb is a file of `fuzzer/commands/`, which is imported when the verb is called."""

from __future__ import annotations

import errno
import sys
import traceback
from difflib import get_close_matches
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fuzzer.system import secrets, telemetry
from fuzzer.system.exit_codes import Exit
from fuzzer.system.help_text import GroupedCommand
from fuzzer.system.terminal import (
    escape_what_cannot_be_encoded,
    nobody_reads,
    one_sentence,
    open_closed_streams,
    program,
    say,
)

GROUPS = {
    "Start here": {
        "run": "Fuzz: start the campaign in DIR, or continue it.",
        "check": "Is TVM right for a model? An .onnx or .pt2 file, or FILE.py:NAME.",
        "triage": "List the findings of a campaign: what is new comes first.",
        "show": "Show what is known of a finding: `fuzz show 3`.",
        "replay": "Run a finding again: is the bug still there?",
        "file": "Write issues for findings; --submit files them.",
    },
    "Understand a finding": {
        "scope": "Find what a bug needs: dtypes, ranks, sizes, attributes.",
        "blame": "Find the part of TVM that is at fault in a finding.",
        "bisect": "Find the releases of TVM in which a finding fails.",
        "minimize": "Reduce a finding again, and save the result beside it.",
        "report": "Print the reports of findings as Markdown, HTML or JSON.",
    },
    "Watch campaigns": {
        "status": "Show how a campaign is doing, whether it runs or not.",
        "dashboard": "Show a campaign as one page that opens without a network.",
        "merge": "Merge several campaigns into one.",
    },
    "Test a change of TVM": {
        "diff": "Compare two builds of TVM: what fails in one of them alone.",
        "corpus": "List or run the cases that ship with difftvm.",
        "sweep": "Run PyTorch's own samples of every operator.",
        "toolchain": "Install, list, check and remove other releases of TVM.",
    },
    "Models, operators, lanes": {
        "import": "Cut real models into seed cases.",
        "gen": "Generate cases without any compiler.",
        "ops": "List the operators.",
        "lanes": "List the lanes, and what this machine can do with each.",
    },
    "difftvm itself": {
        "doctor": "Run the self-test: is each kind of failure detected?",
        "bench": "Measure the fuzzer itself.",
    },
}
"""The verbs in groups, each with its line in `fuzz --help`."""

VERBS = {verb: line for verbs in GROUPS.values() for verb, line in verbs.items()}
"""Each verb with its line."""

MODULES = {"import": "import_models"}
"""The modules of verbs whose names are Python keywords."""


class Verbs(TyperGroup):
    """The verbs. The module of a verb is imported when the verb is called; the list of verbs needs no module."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, placeholder, rest = super().resolve_command(ctx, args)
        return name, placeholder and command_of(args[0]), rest

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(map(len, VERBS))
        for group, verbs in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(f"{verb:{width}}", line) for verb, line in verbs.items()])


def command_of(verb: str) -> Any:
    """Import a verb's module, and return its command: the function or the `Typer` group with the module's name."""
    name = MODULES.get(verb, verb)
    module = import_module(f"fuzzer.commands.{name}")
    entry = getattr(module, name)
    if isinstance(entry, typer.Typer):
        return typer.main.get_command(entry)
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    single.command(verb, cls=GroupedCommand)(entry)
    command = typer.main.get_command(single)
    assert isinstance(command, GroupedCommand)
    command.groups, command.examples = getattr(module, "OPTION_GROUPS", {}), getattr(module, "EXAMPLES", ())
    return command


app = typer.Typer(
    cls=Verbs,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version  # takes 20 ms, so only here

        print(f"difftvm {version('difftvm')}")
        raise typer.Exit


@app.callback(epilog="Options without a command are those of `run`; `fuzz --replay X` is `fuzz replay X`.")
def fuzz(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A differential fuzzer for TVM."""


for _verb, _line in VERBS.items():
    app.command(_verb, short_help=_line)(lambda: None)  # only its name and help line; `Verbs` imports the rest


OWN_OPTIONS = ("--help", "-h", "--version", "--install-completion", "--show-completion")

NEARLY = 0.8
"""How alike a slip is to one of these options: `--verion` is no option of `run`."""


def routed(arguments: list[str]) -> list[str]:
    """Add the verb that a user may leave out: `--help` without arguments, `replay` for `--replay X`, else `run`.
    `help VERB` is `VERB --help`."""
    if not arguments:
        return ["--help"]
    if arguments[0] == "help":
        return [*arguments[1:2], "--help"]
    if arguments[0] in VERBS or get_close_matches(arguments[0], OWN_OPTIONS, cutoff=NEARLY):
        return arguments
    for index, argument in enumerate(arguments):
        if argument == "--replay":
            return ["replay", *arguments[:index], *arguments[index + 1 :]]
        if argument.startswith("--replay="):
            return ["replay", argument.removeprefix("--replay="), *arguments[:index], *arguments[index + 1 :]]
    return ["run", *arguments] if arguments[0].startswith("-") else arguments


def writes_to(arguments: list[str]) -> Path | None:
    """The campaign that a command writes to from its start to its end; None where it writes to none."""
    verb, *rest = arguments
    if not (verb == "run" or (verb == "triage" and "--work" in rest)) or {"--help", "-h"} & set(rest):
        return None
    folder = "."
    for word, after in zip_longest(rest, rest[1:], fillvalue=folder):
        if word == "--campaign":
            folder = after
        elif word.startswith("--campaign="):
            folder = word.removeprefix("--campaign=")
    return Path(folder)


def _require_free(folder: Path) -> None:
    """Refuse a second writer before the modules of its verb are imported, which takes seconds."""
    from fuzzer.campaign.store.lock import require_free

    require_free(folder)


SLOW_TO_LOAD = ("run", "check", "diff")
"""Verbs whose modules take a second to load, or several on a busy machine."""


def _say_that_it_begins(arguments: list[str]) -> None:
    """A sign of life on a terminal, before the modules of the verb are loaded."""
    if arguments[0] in SLOW_TO_LOAD and not {"--help", "-h"} & set(arguments) and sys.stderr.isatty():
        say("difftvm: loading ...")


def main() -> None:
    """Run a command. Besides the verb's own exit codes: 64 for bad input, 69 for a missing environment, 79 for an error
    of difftvm, whose traceback is printed."""
    open_closed_streams()
    escape_what_cannot_be_encoded()
    secrets.remove_from_environment()
    telemetry.switch_off()
    arguments = routed(sys.argv[1:])
    try:
        if (folder := writes_to(arguments)) is not None:
            _require_free(folder)
        _say_that_it_begins(arguments)
        code = app(arguments, standalone_mode=False, prog_name="fuzz")
        sys.stdout.flush()
    except (SystemExit, BrokenPipeError) as ended:  # typer ends with 1 where a pipe is closed, as if a build were worse
        if nobody_reads():
            sys.exit(Exit.NOBODY_READS)
        error = ended if isinstance(ended, BrokenPipeError) else ended.__context__
        if not isinstance(error, BrokenPipeError):
            raise
        sys.exit(_reported(error))
    except typer.Abort:
        say("interrupted")
        sys.exit(Exit.INTERRUPTED)
    except Exception as error:
        sys.exit(_reported(error))
    sys.exit(code if isinstance(code, int) else 0)


def _reported(error: Exception) -> Exit:
    """Print one line for an error that the user can correct, and the traceback of one that is a bug in difftvm.

    The types of errors are imported here, because `fuzz --help` does not need their modules."""
    from fuzzer.campaign.store.lock import Busy
    from fuzzer.system.environment import EnvironmentMissing
    from fuzzer.system.storage_errors import remedy
    from generators.graph import Invalid

    match error:
        case typer.TyperException():
            say(one_sentence(f"fuzz: {_with_proposal(error)}"))
            return Exit.BAD_INPUT
        case Invalid() | Busy():
            say(one_sentence(f"fuzz: {error}"))
            return Exit.BAD_INPUT
        case EnvironmentMissing():
            say(one_sentence(f"fuzz: {error}"))
            return error.exit
        case OSError(errno=errno.ENAMETOOLONG, filename=name) if name is not None:
            say(one_sentence(f"fuzz: {name}: {error.strerror}"))
            return Exit.BAD_INPUT
        case OSError() if what_to_do := remedy(error):
            say(one_sentence(f"fuzz: {error}; {what_to_do}"))
            return Exit.ENVIRONMENT
        case _:
            say("".join(traceback.format_exception(error)).rstrip())
            return Exit.OWN_ERROR


ALIKE = 0.75
"""How alike a slip is to an option that is proposed. The parser also proposes `--json` for `--second`: 0.71."""

PLAIN_WORDS = {
    "Value error, ": "",
    "Input should be a valid integer, unable to parse string as an integer": "it takes a whole number",
    "Input should be a valid number, unable to parse string as a number": "it takes a number",
}
"""What the parser of options says, in the words of a person."""


def _with_proposal(error: Any) -> str:
    """What is wrong with a command line, and the options that were perhaps meant."""
    if possible := getattr(error, "possibilities", None):
        options = get_close_matches(error.option_name, possible, cutoff=ALIKE)
        return f"{error.message}; did you mean {' or '.join(options)}?" if options else str(error.message)
    message = str(error.format_message())
    for words, plain in PLAIN_WORDS.items():
        message = message.replace(words, plain)
    if message.startswith("Missing ") and (context := getattr(error, "ctx", None)):
        return f"{message.rstrip('.')}; `{program()} {context.info_name} --help` shows what is meant"
    from fuzzer.commands.meant import proposal  # only where a line is refused

    return proposal(message, list(VERBS), program())


if __name__ == "__main__":
    main()
