"""`fuzz import`: cuts real models into seed cases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fuzzer.campaign.plan.selection import dialects_named
from fuzzer.commands.model_options import InputFiles, OpenSizes, open_sizes
from fuzzer.commands.options import JsonFlag
from fuzzer.seeds import corpus
from fuzzer.seeds.imported import SIZE, Imported, files_of, run
from fuzzer.seeds.sample import require_one_file, samples_of
from fuzzer.system.exit_codes import Exit
from fuzzer.system.terminal import echo, next_line, number_of, one_sentence, print_json, say
from generators.dialect_names import NAMES


def import_models(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A .onnx or .pt2 file, or a folder of such files.")],
    into: Annotated[
        Path, typer.Option("--into", metavar="DIR", help="The campaign; the cases go to DIR/corpus.")
    ] = Path("."),
    size: Annotated[
        int, typer.Option(min=1, max=64, metavar="N", help="The largest number of operators in a case.")
    ] = SIZE,
    dialect: Annotated[
        str, typer.Option(metavar="LIST", help="torch: as calls of PyTorch; onnx: .onnx files as they are.")
    ] = ",".join(NAMES),
    inputs: InputFiles = None,
    sizes: OpenSizes = None,
    json: JsonFlag = False,
) -> None:
    """Cut real models into seed cases: pieces of their graphs, with smaller sizes and new values.

    Nothing in a file is executed. Exit code 64 where a file cannot be read, or no case can be made."""
    samples = samples_of(inputs or (), open_sizes(sizes))
    require_one_file(str(model), samples)
    done, refused = run(files_of(model), into, size, dialects=dialects_named(dialect), samples=samples)
    for why in refused:
        say(one_sentence(f"fuzz: {why}"))
    has_cases = any(each.names for each in done)
    if json:
        print_json({"files": [each.document for each in done], "refused": refused})
    else:
        for each in done:
            echo(*each.lines(), sep="\n")
        if has_cases:
            echo(_summary(done, into))
    if done and not has_cases:
        reasons = dict.fromkeys(each.why_empty for each in done)
        say(one_sentence(f"fuzz: {model}: nothing is imported: {'; '.join(reasons)}"))
    if refused or not has_cases:
        raise typer.Exit(Exit.BAD_INPUT)


def _summary(done: Sequence[Imported], into: Path) -> str:
    """How many cases were written, and the functions without a row."""
    written = number_of(sum(len(each.written) for each in done), "case")
    titles = {title for each in done for title, _ in each.extracted.resolved.lacking}
    lacks = f"; without a row: {number_of(len(titles), 'function')}" if titles else ""
    return f"{written} written to {into / corpus.FOLDER}{lacks}; {next_line('run', '--campaign', into)}"
