"""Where a pass belongs: what TVM's own documentation says of what must run before it was read, and lanes keep to it."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

from fuzzer.filing import misuse
from oracles.transforms import TRANSFORMS

NAMES_A_PLACE = re.compile(r"\b(assumes|is used in|recommend|useful for|to be called first|must)\b", re.IGNORECASE)

READ = {
    # the importers make dataflow blocks, and a pass leaves other code as it is
    **dict.fromkeys(
        (
            *("ConvertToDataflow", "DataflowUseInplaceCalls", "FoldConstant", "FuseOps", "FuseOpsByPattern"),
            "RewriteDataflowReshape",
        ),
        "anywhere",
    ),
    "AttachAttrLayoutFreeBuffers": "anywhere",  # "we recommend" CanonicalizeBindings before it
    # "useful" for models of a kind, or after another pass: nothing says that others become wrong
    **dict.fromkeys(
        ("AdjustMatmulOrder", "ExpandMatmulOfSum", "ReorderPermuteDimsAfterConcat", "ReorderTakeAfterMatmul"),
        "anywhere",
    ),
    "RemovePurityChecking": "anywhere",  # "useful" for code generation; its row runs ToNonDataflow first
    "ToMixedPrecision": "float32 modules",  # the column `floats` of its row
    "SplitLayoutRewritePreproc": "misuse",  # "used in the prepack weight after meta_schedule tuning"
}
"""The passes whose documentation names a place, with the answer."""


def documented() -> dict[str, str]:
    """By pass that is drawn, the sentences of its documentation that name a place."""
    spec = importlib.util.find_spec("tvm")
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse((Path(spec.origin).parent / "relax" / "transform" / "transform.py").read_text())
    drawn, found = {row.pass_name for row in TRANSFORMS}, {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in drawn:
            text = re.split(r"\n(?:Parameters|Returns|Examples?)\b", ast.get_docstring(node) or "")[0]
            sentences = [" ".join(each.split()) for each in re.split(r"(?<=[.])\s", text)]
            if names := [each for each in sentences if NAMES_A_PLACE.search(each)]:
                found[node.name] = " ".join(names)
    return found


def test_what_the_documentation_of_each_drawn_pass_says_of_its_place_was_read() -> None:
    assert documented().keys() == READ.keys(), documented()


def test_a_pass_outside_of_its_place_is_not_filed() -> None:
    held_back = {name for entry in misuse.entries() for name in entry.passes}
    assert {name for name, place in READ.items() if place == "misuse"} <= held_back
    (half,) = {row.floats for row in TRANSFORMS if row.pass_name == "ToMixedPrecision"}
    assert half == ("float32",)
