"""Imports point one way, compilers are loaded in children only, and nothing can unpickle."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator

from source_file import PACKAGES, SourceFile, names_of_files
from source_rule import ANY, Place, Rule

from generators.dialect_names import NAMES

COMPILERS = {"torch", "tvm", "onnx", "onnxruntime"}
RUN_IN_CHILDREN = (
    *("fuzzer/lanes/", "fuzzer/children/", "fuzzer/seeds/onnx/reader/"),
    "fuzzer/api/register_pass.py",  # a preloaded file calls it
)
PROGRAMS = ("fuzzer/children/", "fuzzer/seeds/onnx/reader/")
LANES_AS_DATA = {
    "fuzzer/lanes/__init__.py",
    "fuzzer/lanes/model_lanes.py",
    "fuzzer/lanes/relay_table.py",
    "fuzzer/lanes/target_table.py",
    "fuzzer/lanes/base/__init__.py",
    "fuzzer/lanes/base/availability.py",
}
"""What the supervisor may import of `fuzzer.lanes`."""
UNSAFE = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}


def module_of(name: str) -> str:
    return name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


MODULES_OF_LANES = {module_of(name) for name in names_of_files("fuzzer/lanes/") if name not in LANES_AS_DATA}
MODULES_OF_PROGRAMS = tuple(folder.strip("/").replace("/", ".") for folder in PROGRAMS)

SHARED = "generators/shared/"
OF_DIALECTS = tuple(f"generators/{name}/" for name in NAMES)

Finder = Callable[[SourceFile], Iterator[Place]]


def imports_of(is_wrong: Callable[[str], bool]) -> Finder:
    """Finds the imports whose full names are wrong."""
    return lambda file: (Place(1, name) for name in sorted(file.imports) if is_wrong(name))


def of_others(dialect: str) -> Callable[[str], bool]:
    """Whether a module is of a dialect, and not of this one."""
    others = {f"generators.{name}" for name in NAMES if name != dialect}
    return lambda name: ".".join(name.split(".")[:2]) in others


def packages_of(wrong: Iterable[str]) -> Finder:
    """Finds the imports of these packages."""
    return lambda file: (Place(1, name) for name in sorted(file.tops.intersection(wrong)))


def packages_but(*allowed: str) -> Finder:
    """Finds the imports of other packages than these and those of Python."""
    right = {*allowed, *sys.stdlib_module_names}
    return lambda file: (Place(1, name) for name in sorted(file.tops - right))


def relative_imports(file: SourceFile) -> Iterator[Place]:
    for node in file.nodes:
        if isinstance(node, ast.ImportFrom) and node.level:
            yield Place(node.lineno, ast.unparse(node))


def readers_of_pickles(file: SourceFile) -> Iterator[Place]:
    yield from (Place(call.lineno, called) for called, call in file.calls if called == "torch.load")
    if "allow_pickle" in file.text.replace("allow_pickle=False", ""):
        yield Place(1, "allow_pickle")


def pickling_connections(file: SourceFile) -> Iterator[Place]:
    wrong = {"connection.send", "connection.recv", "self.connection.send", "self.connection.recv"}
    return (Place(call.lineno, called) for called, call in file.calls if called in wrong)


def imports_of_onnxruntime(file: SourceFile) -> Iterator[Place]:
    """Also for types: the interpreter of a finding's script imports it too, so that these stand alone."""
    names = {name.partition(".")[0] for name in file.imports_with_types}
    return (Place(1, name) for name in sorted(names.intersection({"onnxruntime"})))


def names_benchmarks(name: str) -> bool:
    return name.partition(".")[0] == "benchmarks"


def script_without_command(file: SourceFile) -> Iterator[Place]:
    """A script of benchmarks/ whose docstring does not give its command."""
    command = f"python {file.name}"
    if file.name.count("/") == 1 and "__main__" in file.text and command not in (ast.get_docstring(file.tree) or ""):
        yield Place(1, f"`{command}` is not in the docstring")


RULES = (
    Rule(says="an import is absolute", places=relative_imports, example="from . import a"),
    Rule(
        says="generators import numpy and themselves",
        files=("generators/",),
        places=packages_but("generators", "numpy", "ml_dtypes", "msgspec", "safetensors"),
        exceptions={"generators/torch/strategies.py: hypothesis": (1, "strategies of Hypothesis")},
        example="import torch",
    ),
    *(
        Rule(
            says=f"generators/{dialect}/ imports nothing of another dialect: what they share is in {SHARED} or above",
            files=(f"generators/{dialect}/",),
            places=imports_of(of_others(dialect)),
            example=f"import generators.{next(name for name in NAMES if name != dialect)}.ops",
        )
        for dialect in NAMES
    ),
    Rule(
        says="what the generators of all dialects share imports nothing of one",
        files=("generators/",),
        without=OF_DIALECTS,
        places=imports_of(of_others("")),
        exceptions={
            "generators/undefined/unlisted.py": (2, "a node of a file has the name of its operator in its text"),
        },
        example="from generators.torch.ops import OPS",
    ),
    Rule(
        says="oracles import generators and numpy",
        files=("oracles/",),
        places=packages_but("oracles", "generators", "numpy", "ml_dtypes"),
        example="import msgspec",
    ),
    Rule(
        says="compilers are imported in children only",
        files=("fuzzer/",),
        without=RUN_IN_CHILDREN,
        places=packages_of({*COMPILERS, "onnxscript", "?"}),
        example="def f():\n    import torch.nn",
    ),
    Rule(
        says="the supervisor imports of the lanes only what is data",
        files=("fuzzer/",),
        without=RUN_IN_CHILDREN,
        places=imports_of(lambda name: not {name, name.rpartition(".")[0]}.isdisjoint(MODULES_OF_LANES)),
        example="from fuzzer.lanes.torch.eager import run",
    ),
    Rule(
        says="nothing imports a child program",
        files=("fuzzer/",),
        without=PROGRAMS,
        places=imports_of(lambda name: name.startswith(MODULES_OF_PROGRAMS)),
        example="from fuzzer.children import job",
    ),
    Rule(
        says="no file imports what unpickles",
        places=packages_of(UNSAFE),
        exceptions={
            "fuzzer/api/user_objects.py: dill": (1, "a function that the user's own program gives to `check_pass`"),
        },
        example="import pickle",
    ),
    Rule(says="nothing reads a pickle", places=readers_of_pickles, example="torch.load(path)"),
    Rule(
        says="a connection of multiprocess sends bytes: `send` and `recv` pickle",
        files=("fuzzer/isolate/", "fuzzer/children/"),
        places=pickling_connections,
        example="self.connection.send(a)",
    ),
    Rule(
        says="one file imports onnxruntime, so that it sends nothing, starts no thread and leaves no file",
        files=(*PACKAGES, "difftvm/", "benchmarks/"),
        places=imports_of_onnxruntime,
        exceptions={"fuzzer/lanes/onnx/silent_onnxruntime.py": (ANY, "this file")},
        example="import onnxruntime",
    ),
    Rule(
        says="a script of benchmarks/ imports its neighbours by their names: by its path, there is no such package",
        files=("benchmarks/",),
        places=lambda file: (Place(1, name) for name in sorted(file.imports_with_types) if names_benchmarks(name)),
        example="from benchmarks import packages",
    ),
    Rule(
        says="the docstring of a script gives the command that runs it",
        files=("benchmarks/",),
        places=script_without_command,
        example='"""Prints."""\nif __name__ == "__main__":\n    main()',
    ),
)
