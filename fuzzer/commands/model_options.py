"""What a person says of a model, in the options of several verbs: inputs, and numbers for open sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from generators.graph import Invalid

InputFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--inputs",
        metavar="PATH",
        help="For a file: an .npz file with arrays by name, or a folder with input_0.pb, input_1.pb, ...; others are "
        "drawn. Repeatable, for several runs.",
    ),
]
OpenSizes = Annotated[
    str | None,
    typer.Option("--sizes", metavar="N=7,...", help="For an .onnx file: numbers for its open sizes, by their names."),
]


def open_sizes(text: str | None) -> dict[str, int]:
    """The numbers of sizes by name: `n=7,m=3`. Raise `Invalid` where it is none of that form."""
    found = {}
    for part in text.split(",") if text else ():
        name, _, number = part.strip().rpartition("=")
        if not name or not number.isdecimal():
            raise Invalid(f"--sizes: {part.strip()!r} is no size; write N=7,M=3")
        found[name] = int(number)
    return found
