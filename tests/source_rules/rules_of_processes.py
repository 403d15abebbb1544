"""What each process that difftvm starts gets, and what each program of difftvm does first."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from source_file import SourceFile
from source_rule import ANY, Place, Rule

STARTS = {"subprocess.Popen", "subprocess.run", "subprocess.check_output", "subprocess.check_call", "subprocess.call"}


def starts_without_environment(file: SourceFile) -> Iterator[Place]:
    """The starts of processes with no `env`, or with one that is that of this process."""
    for called, call in file.calls:
        if called in STARTS:
            given = [ast.unparse(each.value) for each in call.keywords if each.arg == "env"]
            if len(given) != 1 or "os.environ" in given[0]:
                yield Place(call.lineno, ast.unparse(call)[:60])


def module_commands(file: SourceFile) -> Iterator[Place]:
    """The command lines with `-m`: the two words after the interpreter."""
    for node in file.nodes:
        if isinstance(node, ast.List):
            words = [item.value if isinstance(item, ast.Constant) else "?" for item in node.elts]
            if "-m" in words:
                yield Place(node.lineno, " ".join(map(str, words[1:3])))


def texts_of_programs(file: SourceFile) -> Iterator[Place]:
    """The command lines with `-c` that have neither -P nor -I before it."""
    for node in file.nodes:
        if isinstance(node, ast.List | ast.Tuple):
            words = [item.value if isinstance(item, ast.Constant) else "?" for item in node.elts]
            if "-c" in words and not {"-P", "-I"} & set(words[: words.index("-c")]):
                yield Place(node.lineno, ast.unparse(node)[:60])


def programs_without_filter(file: SourceFile) -> Iterator[Place]:
    """Programs whose `main` does not enter the filter. `limit_child` does it for the readers of files that call it."""
    is_program = any(isinstance(n, ast.If) and ast.unparse(n.test).startswith("__name__ ==") for n in file.tree.body)
    if not is_program:
        return
    main = next(node for node in file.tree.body if isinstance(node, ast.FunctionDef) and node.name == "main")
    called = {ast.unparse(node.func) for node in ast.walk(main) if isinstance(node, ast.Call)}
    if called.isdisjoint({"no_network.enter", "limit_child"}):
        yield Place(main.lineno, "main")


def numbered_sources(file: SourceFile) -> Iterator[Place]:
    for called, call in file.calls:
        if called == "NumpySource" and len(call.args) > 1:
            yield Place(call.lineno, ast.unparse(call))


def parses(file: SourceFile) -> Iterator[Place]:
    yield from (Place(call.lineno, ast.unparse(call)[:60]) for called, call in file.calls if called == "ast.parse")


RULES = (
    Rule(
        says="one thread parses after the other: syntax trees are of generators.syntax_tree",
        without=(
            "generators/syntax_tree.py",
            "fuzzer/toolchains/reached.py",  # a process without difftvm's packages executes it
        ),
        places=parses,
        example="tree = ast.parse(text)",
    ),
    Rule(
        says="a process that is started names its environment: without env=, it inherits everything",
        files=("fuzzer/",),
        without=("fuzzer/lanes/", "fuzzer/children/"),  # code of children, which pass on what they have inherited
        places=starts_without_environment,
        example="subprocess.run(command, env={**os.environ})",
    ),
    Rule(
        says="Python gets -P before -m, which puts the working directory before everything else",
        files=("fuzzer/",),
        places=module_commands,
        exceptions={
            f"{name}: -P -m": (ANY, "starts a program of difftvm, or pip")
            for name in (
                "fuzzer/evaluation/samples.py",
                "fuzzer/children/node.py",
                "fuzzer/cluster/assignment.py",
                "fuzzer/coverage/worker.py",
                "fuzzer/difference/changed_entries.py",
                "fuzzer/isolate/device_supervisor.py",
                "fuzzer/isolate/executor.py",
                "fuzzer/isolate/validity.py",
                "fuzzer/seeds/bounded_child.py",
                "fuzzer/seeds/torch/module.py",
                "fuzzer/toolchains/install.py",
            )
        },
        example='[python, "-m", "fuzzer.cli"]',
    ),
    Rule(
        says="Python gets -P or -I before -c: else it imports modules of the working directory first",
        files=("fuzzer/", "benchmarks/"),
        places=texts_of_programs,
        exceptions={
            "fuzzer/lanes/abuses.py": (2, "what a hostile lane does"),
            "fuzzer/toolchains/builds.py": (1, "the shell"),
            "fuzzer/toolchains/install.py": (1, "in a new folder; Python 3.10, which it recognises, has no -P"),
        },
        example='[python, "-c", "import ctypes"]',
    ),
    Rule(
        says="a program of difftvm enters the filter of the network",
        files=("fuzzer/",),
        places=programs_without_filter,
        exceptions={
            "fuzzer/api/module_cases.py": (1, "the model of the user may come from the network"),
            "fuzzer/children/exported_module.py": (1, "the model of the user may come from the network"),
            "fuzzer/children/node.py": (1, "a command"),
            "fuzzer/cli.py": (1, "the command"),
            "fuzzer/lanes/relax/sanitized_run.py": (1, "a lane starts it, and it inherits the filter"),
        },
        example='def main():\n    run()\nif __name__ == "__main__":\n    main()',
    ),
    Rule(
        says="decisions of a campaign read streams of choices of their own: one module hands out their numbers",
        files=("fuzzer/campaign/", "fuzzer/difference/"),
        places=numbered_sources,
        exceptions={"fuzzer/campaign/plan/streams.py": (1, "this module")},
        example="NumpySource(seed, index, 6)",
    ),
)
