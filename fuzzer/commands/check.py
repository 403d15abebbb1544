"""`fuzz check`: is TVM right for a model of the user?"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from fuzzer.api import shared_fleet, written_cases
from fuzzer.api.check import FOLDER
from fuzzer.api.check import check as check_model
from fuzzer.api.checked import Checked, NothingRan
from fuzzer.api.finding_error import FindingError
from fuzzer.api.found_failure import FoundFailure
from fuzzer.api.model_cases import ModelCases
from fuzzer.cases.open_sizes import opened
from fuzzer.commands.model_options import InputFiles, OpenSizes, open_sizes
from fuzzer.commands.options import JsonFlag, PreloadFile
from fuzzer.commands.with_options import with_options
from fuzzer.lanes import EVERY_LANE
from fuzzer.report.plain_text import capital
from fuzzer.report.sentences import way
from fuzzer.seeds.own_weights import Weights
from fuzzer.seeds.torch.module import MODULE, write_cases
from fuzzer.system import last_list, temporary
from fuzzer.system.exit_codes import Exit
from fuzzer.system.named_file import MOST_SOURCE, parsed, read_named
from fuzzer.system.terminal import echo, next_line, number_of, print_json, say
from fuzzer.toolchains.toolchain import HOST_NAME
from generators.graph import Invalid

MODELS = (".onnx", ".pt2")
"""The files that are models. A Python file has a function that returns one."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What the user wrote. `fuzz check --help` lists the options in this order."""

    model: Annotated[
        str,
        typer.Argument(metavar="FILE", help="An .onnx or .pt2 file; or FILE.py:NAME, a function (docs/check.md)."),
    ]
    lanes: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Lanes to run, comma-separated globs; `all-plain`: also for c.")
    ] = None
    target: Annotated[
        str | None, typer.Option(metavar="TARGET", help="Compile for it too, such as 'cuda -arch=sm_90' or c.")
    ] = None
    pipeline: Annotated[
        str | None, typer.Option(metavar="NAME", help="The pipeline of passes: default, zero, cpu_generic.")
    ] = None
    opt_level: Annotated[int | None, typer.Option(metavar="N", help="The opt_level, 0 to 4.")] = None
    weights: Annotated[
        Weights | None,
        typer.Option(help="The model's own or random ones. By default own for FILE.py:NAME, drawn for a file."),
    ] = None
    inputs: InputFiles = None
    sizes: OpenSizes = None
    toolchain: Annotated[str, typer.Option(metavar="NAME", help="The toolchain with TVM.")] = HOST_NAME
    preload: PreloadFile = None
    folder: Annotated[Path, typer.Option(metavar="DIR", help="Where findings are saved.")] = FOLDER
    reduce: Annotated[bool, typer.Option("--reduce/--no-reduce", help="Reduce what fails to a small model.")] = True
    json: JsonFlag = False


@with_options(CheckOptions)
def check(options: CheckOptions) -> None:
    """Is TVM right for a model? `fuzz check net.onnx` compiles it along several paths, and compares each result.

    Exit code 0: all results are right; 1: TVM is wrong, and the findings are saved; 2: nothing is wrong, but not all of
    the model was judged.
    """
    with temporary.folder() as scratch:
        model = _model(options, scratch)
        say(f"{options.model}: compiling and comparing; a first check takes some ten seconds")
        found: tuple[FoundFailure, ...] = ()
        checked: Checked | None
        try:
            checked = _checked(options, model)
        except FindingError as error:
            found, checked = error.findings, error.checked
        except NothingRan as error:
            checked = error.checked
        finally:
            shared_fleet.close()
    code = Exit.WORSE if found else Exit.GONE if checked is None or _is_judged(checked) else Exit.NOT_REACHED
    if options.json:
        print_json(_document(options.model, code, found, checked))
    else:
        if found:
            last_list.keep([each.folder for each in found])
        echo(*_lines(options, code, found, checked), sep="\n")
    raise typer.Exit(code)


def _checked(options: CheckOptions, model: Path | ModelCases) -> Checked:
    return check_model(
        model,
        inputs=list(options.inputs) if options.inputs else None,
        lanes=options.lanes,
        target=options.target,
        pipeline=options.pipeline,
        opt_level=options.opt_level,
        toolchain=options.toolchain,
        preload=options.preload,
        folder=options.folder,
        reduce=options.reduce,
        weights=options.weights,
        sizes=open_sizes(options.sizes),
    )


def _model(options: CheckOptions, scratch: Path) -> Path | ModelCases:
    """The file of the model, or the cases of a module. Raise `Invalid` where there is no model."""
    if module := MODULE.fullmatch(options.model):
        if not Path(module["file"]).exists():
            raise Invalid(f"{module['file']}: there is no such file")
        say(f"{options.model}: exporting, after module.eval()")
        return written_cases.read(
            write_cases(Path(module["file"]), module["name"], scratch, options.weights or Weights.OWN)
        )
    path = Path(options.model)
    if not path.exists():
        raise Invalid(f"{path}: there is no such file")
    if path.suffix == ".py":
        raise Invalid(_functions(path))
    if path.suffix not in MODELS and not path.is_dir():
        raise Invalid(f"{path}: expected {', '.join(MODELS)} or FILE.py:NAME")
    return path


def _functions(path: Path) -> str:
    """What to write in place of a Python file alone."""
    try:
        defined = parsed(read_named(path, MOST_SOURCE), path).body
    except (SyntaxError, OSError) as error:
        return f"{path}: it cannot be read as Python: {getattr(error, 'strerror', None) or error}"
    names = [each.name for each in defined if isinstance(each, ast.FunctionDef) and not each.args.args]
    which = f"; it has {', '.join(names[:4])}" if names else "; it has no function without parameters"
    model = f"{path}:{names[0] if names else 'NAME'}"
    return (
        f"{path}: name the function that returns the module and the tuple of its inputs: "
        f"fuzz check {quote(model)}{which}"
    )


def _is_judged(checked: Checked) -> bool:
    left = checked.not_covered or checked.not_judged or checked.not_confirmed or checked.in_form
    return bool(checked.ran) and not left


def _lines(
    options: CheckOptions, code: Exit, found: tuple[FoundFailure, ...], checked: Checked | None
) -> Iterator[str]:
    name = options.model
    match code:
        case Exit.WORSE:
            yield f"{name}: TVM is wrong: {number_of(len(found), 'finding')}"
        case Exit.GONE:
            yield f"{name}: TVM is right"
        case _ if checked and not (checked.ran or checked.not_confirmed or checked.in_form):
            yield f"{name}: nothing of it was judged: no lane ran it"
        case _:
            yield f"{name}: nothing is wrong, but not all of it was judged"
    for number, each in enumerate(found, start=1):
        yield f"{number:3}  {capital(each.line)}  {each.slug}"
    if checked is not None:
        yield from _facts(checked, {lane for each in found for lane in each.lanes})
    if found:
        yield next_line("show", 1)
    elif checked is None or checked.ran:
        yield next_line("run", "--around", name, "--seconds", "2m")


def _facts(checked: Checked, wrong: set[str]) -> Iterator[str]:
    """The paths with what came of each, and what was not judged, with the reasons."""
    ways = {lane.name: way(lane, given=not checked.not_given) for lane in EVERY_LANE}
    ways |= {opened(lane).name: f"{ways[lane.name]}, open sizes stay open" for lane in EVERY_LANE if not lane.symbolic}
    without_verdict = {line.partition(": ")[0] for line in checked.not_judged}
    in_part = dict(checked.not_run).keys() & set(checked.ran)
    for lane in checked.ran:
        if lane in wrong or not (checked.none_judged or lane in without_verdict):
            verdict = "wrong" if lane in wrong else "right in part" if lane in in_part else "right"
            yield f"{verdict} along {lane}{f': {ways[lane]}' if lane in ways else ''}"
    named_below = {line.partition(": ")[2] for line in checked.elsewhere}
    for lane, why in checked.not_run:
        if f"{lane}: {why}" not in named_below:
            how = "not whole" if lane in in_part else "fails" if lane in wrong else "not run"
            yield f"{how} along {lane}: {why}"
    for what, each in (
        ("not covered", _by_reason(checked.not_covered)),
        ("not judged", checked.not_judged),
        ("not confirmed", checked.not_confirmed),
        ("not TVM's", checked.elsewhere),
        ("fails in difftvm's form of the model only", tuple(one.line for one in checked.in_form)),
    ):
        yield from (f"{what}: {line}" for line in each)
    if checked.aliased:
        yield f"an output shares memory with an input along {', '.join(checked.aliased)}; that is no failure"
    if checked.judged or checked.unjudged:
        unjudged = "".join(f"; {count:,} not judged: {why}" for why, count in checked.unjudged)
        yield f"{number_of(checked.judged, 'element')} judged{unjudged}"
    yield f"{number_of(checked.cases, 'case')} in {checked.seconds:.0f} s"


def _by_reason(lines: Iterable[str]) -> Iterator[str]:
    """A line for each reason, with all operators that have it."""
    groups: dict[str, list[str]] = {}
    for line in lines:
        what, _, why = line.partition(": ")
        groups.setdefault(why, []).append(what)
    return (f"{', '.join(group)}: {why}" if why else ", ".join(group) for why, group in groups.items())


def _document(name: str, code: Exit, found: tuple[FoundFailure, ...], checked: Checked | None) -> dict[str, object]:
    verdicts = {Exit.WORSE: "wrong", Exit.GONE: "right", Exit.NOT_REACHED: "not all judged"}
    return {
        "model": name,
        "verdict": verdicts[code],
        "findings": [{**asdict(each), "folder": str(each.folder), "repro": str(each.repro)} for each in found],
        "checked": None if checked is None else {**asdict(checked), "in_form": [each.line for each in checked.in_form]},
    }
