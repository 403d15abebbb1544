"""`fuzz import`: cuts real models into seed cases."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from fuzzer.commands.options import JsonFlag
from fuzzer.commands.selection import dialects_named
from fuzzer.seeds import corpus
from fuzzer.seeds.imported import SIZE, files_of, run
from fuzzer.system.terminal import echo, next_line, one_sentence, print_json, say
from generators.table import DIALECTS


def import_models(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A .onnx or .pt2 file, or a folder of such files.")],
    into: Annotated[
        Path, typer.Option("--into", metavar="DIR", help="The campaign; the cases go to DIR/corpus.")
    ] = Path("."),
    size: Annotated[int, typer.Option(min=1, max=64, help="The largest number of operators in a case.")] = SIZE,
    dialect: Annotated[
        str, typer.Option(metavar="LIST", help="torch: as calls of PyTorch; onnx: .onnx files as they are.")
    ] = ",".join(DIALECTS),
    json: JsonFlag = False,
) -> None:
    """Cut real models into seed cases: pieces of their graphs, with smaller sizes and new values.

    Nothing in a file is executed. Exit code 64 where a file cannot be read."""
    done, refused = run(files_of(model), into, size, dialects=dialects_named(dialect))
    for why in refused:
        say(one_sentence(f"fuzz: {why}"))
    if json:
        print_json({"files": [each.document for each in done], "refused": refused})
    else:
        for each in done:
            echo(*each.lines(), sep="\n")
        written = sum(len(each.written) for each in done)
        lacking = sum((each.extracted.resolved.lacking for each in done), Counter[tuple[str, str]]())
        lacks = f"; without a row: {len({title for title, _ in lacking})} functions" if lacking else ""
        if done:
            echo(f"{written} cases written to {into / corpus.FOLDER}{lacks}; {next_line('run', '--campaign', into)}")
    if refused:
        raise typer.Exit(64)
