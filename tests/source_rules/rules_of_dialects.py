"""Code names a dialect in the folders of that dialect, and in few other places."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from source_file import SourceFile
from source_rule import ANY, Place, Rule

from generators.dialect_names import NAMES

PLACES = {
    "generators/dialect_names.py": "the list of dialects",
    "oracles/lane.py": "the engine of the references of each dialect",
    "oracles/importers.py": "the dialect whose cases each importer reads; the modules of TVM's frontends",
    "fuzzer/lanes/__init__.py": "the lanes as data: a row for each dialect",
    "fuzzer/campaign/plan/drawn_lanes.py": "lanes that only cases of PyTorch have",
}
"""The files outside of the dialects' own folders that name a dialect, and why they must."""

FOLDERS = tuple(
    f"{folder}/{name}/"
    for folder in (
        "generators",
        *(f"fuzzer/{each}" for each in ("lanes", "campaign/cases", "seeds", "coverage", "difference", "evaluation")),
    )
    for name in NAMES
    if (folder, name) != ("fuzzer/lanes", "relax")
)
"""The folders of the dialects that docs/dialects.md lists."""

AN_OPTION = "an option that is not given"
COMPILED = "the variant of lanes that compile the model itself"
LANGUAGE = "TVM's graph language"

OTHER_MEANINGS = {
    "fuzzer/api/model_cases.py": (1, "a Python package"),
    "fuzzer/children/code_table.py": (3, "frontends and packages of TVM"),
    "fuzzer/coverage/question.py": (1, "an importer"),
    "fuzzer/difference/measured_map.py": (2, LANGUAGE),
    "fuzzer/difference/touched_lanes.py": (5, COMPILED),
    "fuzzer/lanes/base/pointed.py": (2, "Python packages"),
    "fuzzer/lanes/device.py": (1, "a Python package"),
    "fuzzer/lanes/relay_table.py": (1, "a part of a lane's name"),
    "fuzzer/lanes/warmup.py": (2, "Python packages"),
    "fuzzer/report/document.py": (1, "the exported file"),
    "fuzzer/report/issue.py": (2, "Python packages"),
    "fuzzer/report/repro_imports.py": (7, "Python packages"),
    "fuzzer/report/repro_values.py": (1, "a Python package"),
    "fuzzer/report/requirements.py": (7, "Python packages"),
    "fuzzer/signature/identity.py": (1, "importers"),
    "fuzzer/toolchains/install.py": (4, "Python packages"),
    "fuzzer/toolchains/relay.py": (1, "a Python package"),
    "fuzzer/api/module_lanes.py": (1, COMPILED),
    "fuzzer/api/own_passes.py": (2, "what a pass of the user gets"),
    "fuzzer/api/pass_check.py": (1, "what a pass of the user gets"),
    "fuzzer/campaign/lanes/lane_chooser.py": (1, COMPILED),
    "fuzzer/campaign/plan/configuration_file.py": (1, COMPILED),
    "fuzzer/difference/changed_code.py": (1, "a word of what a compiler has done"),
    "fuzzer/filing/similar_titles.py": (1, "a word of titles"),
    "fuzzer/isolate/known_answer.py": (1, COMPILED),
    "fuzzer/lanes/base/availability.py": (1, COMPILED),
    "fuzzer/lanes/relax/build.py": (1, "a name in the source of a pass"),
    "fuzzer/lanes/relax/sanitized_run.py": (1, "a Python package"),
    "fuzzer/lanes/relax_lane.py": (3, COMPILED),
    "fuzzer/lanes/target_table.py": (1, COMPILED),
    "fuzzer/toolchains/toolchain.py": (1, LANGUAGE),
    "fuzzer/triage/blame/other_lanes.py": (1, COMPILED),
    "fuzzer/triage/reducers/plain_lane.py": (1, COMPILED),
    "fuzzer/triage/reproduce.py": (1, COMPILED),
}
"""The files in which the word of a dialect means something else: how often, and what."""


FILE_OF_ONNX = "a file of ONNX as data: what is exported of a case of PyTorch too"
GIVEN_MODULE = "a module of PyTorch that a user gives"
EXPORTERS = "measures what exporters make of programs of PyTorch"
FOR_PASSES = "motifs, which wake passes, are small graphs of PyTorch"
NODE_TESTS = "the node tests of ONNX are data of its package"

IMPORTING = ("fuzzer/", "oracles/", "difftvm/")
"""The files that ask records. Those of `generators/` have a rule of their own in `rules_of_imports.py`."""

IMPORTS = {
    "fuzzer/api/exported_module.py": (3, GIVEN_MODULE),
    "fuzzer/api/model_cases.py": (2, GIVEN_MODULE),
    "fuzzer/api/random_cases.py": (1, "`check_pass` draws cases of PyTorch"),
    "fuzzer/api/strategies.py": (1, "the strategies of Hypothesis draw cases of PyTorch"),
    "fuzzer/campaign/store/store.py": (1, FILE_OF_ONNX),
    "fuzzer/cases/expected_results.py": (1, NODE_TESTS),
    "fuzzer/children/node_tests.py": (2, NODE_TESTS),
    "fuzzer/children/samples.py": (1, "the samples of torch.testing are calls of functions of PyTorch"),
    "fuzzer/coverage/measure.py": (1, EXPORTERS),
    "fuzzer/difference/focus.py": (1, FOR_PASSES),
    "fuzzer/difference/near_cases.py": (1, FOR_PASSES),
    "fuzzer/evaluation/toolchain_check.py": (1, "one fixed graph of PyTorch, which each release compiles"),
    "fuzzer/findings/natural_file.py": (1, FILE_OF_ONNX),
    "fuzzer/findings/record.py": (3, FILE_OF_ONNX),
    "fuzzer/lanes/evaluated/further.py": (1, "operators of Relax: a dialect whose lanes have another folder"),
    "fuzzer/report/given_program.py": (1, GIVEN_MODULE),
    "fuzzer/report/onnx_unused.py": (1, FILE_OF_ONNX),
    "fuzzer/report/own_script.py": (1, FILE_OF_ONNX),
    "fuzzer/report/repro.py": (2, FILE_OF_ONNX),
    "fuzzer/report/repro_judge.py": (1, FILE_OF_ONNX),
    "fuzzer/report/repro_onnx.py": (3, FILE_OF_ONNX),
    "fuzzer/triage/exported.py": (1, FILE_OF_ONNX),
    "fuzzer/triage/investigate.py": (1, FILE_OF_ONNX),
}
"""The files outside of the dialects' own folders that import modules of a dialect: how many, and why its record cannot
answer."""


def conditions(node: ast.AST) -> list[ast.expr]:
    """The expressions whose truth a node asks for."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            return [test]
        case ast.BoolOp(values=values):
            return values
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return [operand]
        case ast.comprehension(ifs=ifs):
            return ifs
        case _:
            return []


def is_opset_of_a_graph(expression: ast.expr) -> bool:
    """Lanes have an opset too, which converts or exports a model: it does not say the dialect."""
    if not isinstance(expression, ast.Name | ast.Attribute):
        return False
    owner, _, name = ast.unparse(expression).rpartition(".")
    return name == "opset" and owner.rpartition(".")[2] not in ("lane", "spec")


def named_dialects(file: SourceFile) -> Iterator[Place]:
    """What in a source names a dialect, or decides by a sign of it instead of by `Graph.dialect`."""
    if file.name.startswith(FOLDERS):
        return
    for node in file.nodes:
        match node:
            case ast.Constant(value=str(word)) if word in NAMES:
                yield Place(node.lineno, repr(word))
            case ast.Attribute(value=ast.Name(id="Engine"), attr=name) if name.lower() in NAMES:
                yield Place(node.lineno, f"Engine.{name}")
            case ast.Call(func=ast.Attribute(attr="isupper" | "islower")):
                yield Place(node.lineno, ast.unparse(node))
        for each in conditions(node):
            if is_opset_of_a_graph(each):
                yield Place(each.lineno, f"whether {ast.unparse(each)}")


def questions(file: SourceFile) -> Iterator[Place]:
    """What in a source asks which dialect something is of: these branch, and do not only name one."""
    named = {place.line for place in named_dialects(file)}
    for node in file.nodes:
        asking = [node.pattern] if isinstance(node, ast.match_case) else [node] if isinstance(node, ast.Compare) else []
        asking += conditions(node)
        for each in asking:
            if each.lineno in named:
                yield Place(each.lineno, ast.unparse(each))


def uses_of_the_default(file: SourceFile) -> Iterator[Place]:
    """Where a dialect is one because nobody names another."""
    if "generators.dialect_names.DEFAULT" not in file.imports_with_types:
        return
    for node in file.nodes:
        match node:
            case ast.Name(id="DEFAULT", ctx=ast.Load()):
                yield Place(node.lineno, "DEFAULT")


def imported_modules(file: SourceFile) -> Iterator[Place]:
    """The modules and packages of `generators/<dialect>/` that a source imports, each once."""
    names = {".".join(name.split(".")[:3]) for name in file.imports_with_types}
    return (Place(1, name) for name in sorted(names) if name.startswith(tuple(f"generators.{each}." for each in NAMES)))


ABOUT_IMPORTS = Rule(
    says="code asks the record of a dialect, and imports its modules where there is a reason",
    files=IMPORTING,
    without=(*FOLDERS, "fuzzer/lanes/relax/"),
    places=imported_modules,
    exceptions=IMPORTS,
    example="from generators.onnx.operator import INPUTS",
)

RULES = (
    ABOUT_IMPORTS,
    Rule(
        says="a dialect is the default one where a user, a file or a test names none, and nowhere else",
        places=uses_of_the_default,
        exceptions={
            "generators/graph.py": (1, "a file of a case that names none is one of PyTorch"),
            "generators/builder.py": (1, "tests build graphs by hand, most of them of PyTorch"),
            "oracles/lane.py": (1, "lanes of engines that no dialect has"),
            "fuzzer/lanes/__init__.py": (1, "names of lanes that a user gives without a dialect"),
            "fuzzer/commands/bench.py": (2, AN_OPTION),
            "fuzzer/commands/gen.py": (2, AN_OPTION),
            "fuzzer/commands/ops_options.py": (1, AN_OPTION),
            "fuzzer/commands/sweep_options.py": (1, AN_OPTION),
            "fuzzer/commands/diff_run.py": (1, "two toolchains whose differences are not known"),
            "fuzzer/difference/cases.py": (1, "two toolchains whose differences are not known"),
            "fuzzer/api/pass_check.py": (1, "`check_pass` draws cases of PyTorch"),
            "fuzzer/campaign/plan/selection.py": (2, "names of operators that a user gives without a dialect"),
            "fuzzer/campaign/plan/settings.py": (2, AN_OPTION),
            "fuzzer/campaign/lanes/lane_purposes.py": (1, "what other lanes are for is said by those of PyTorch"),
            "fuzzer/evaluation/false_alarms.py": (1, AN_OPTION),
            "fuzzer/evaluation/generation.py": (1, AN_OPTION),
            "fuzzer/evaluation/samples.py": (2, "a file that names none"),
            "fuzzer/evaluation/sweep.py": (1, AN_OPTION),
            "fuzzer/seeds/imported.py": (1, "a line for people, which names a dialect where it is another"),
        },
        example="from generators.dialect_names import DEFAULT\nrows = ops[DEFAULT]",
    ),
    Rule(
        says="code names a dialect in its folders alone",
        places=named_dialects,
        exceptions={**{name: (ANY, why) for name, why in PLACES.items()}, **OTHER_MEANINGS},
        example='graph.dialect == "onnx"',
    ),
)
