"""The targets that TVM compiles for, as data. Importing this module loads no compiler."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache

from generators.graph import Invalid
from oracles.target_kinds import FLAGS_OF_CPU, attributes_of, config_of, cpu_flag, text_of


class Runs(Enum):
    """Where the code for a target can run."""

    HERE = auto()
    SANITIZED = auto()  # in a process of its own, started with the runtime of the sanitizers preloaded
    BY_KERNELS = auto()  # kernel by kernel, on a driver for this processor (`Target.device`); without one it is checked
    ON_A_DEVICE = auto()  # on a device (`Target.device`); on a machine without one it is compiled and checked
    NOWHERE = auto()  # it is compiled and checked

    @property
    def in_plain_process(self) -> bool:
        """Whether a lane for the target needs neither a device nor a process that is started in a special way."""
        return self in (Runs.HERE, Runs.BY_KERNELS, Runs.NOWHERE)


@dataclass(frozen=True, slots=True)
class CodeChecker:
    """A compiler, linker or validator that checks what TVM wrote.

    It refuses a file by exiting with a status other than 0 and printing a line with `error: ...`.

    program    its name, found on PATH
    arguments  {file} stands for the file to check, {package} for the entry point of the Node package that it needs
    install    how a user installs it
    package    the name of that Node package, if any
    """

    program: str
    arguments: tuple[str, ...]
    install: str
    package: str = ""


@dataclass(frozen=True, slots=True)
class WrittenCode:
    """The code that TVM writes for a target that this machine may not run.

    module    the kind of the runtime module that contains the code
    suffix    the suffix of the file that a checker gets: an object file for .o, source text otherwise
    checkers  the programs that can check it; the first one that is installed does
    each      whether each kernel is checked as a program of its own, because kernels may use the same names
    """

    module: str
    suffix: str
    checkers: tuple[CodeChecker, ...]
    each: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """One target.

    name       the text that lanes use; it begins with the plain target of its family (`family_of`)
    config     the argument of `tvm.target.Target`
    runs       where its code can run
    device     the kind of device that runs it, a key of `fuzzer.system.devices.KINDS`; "" for the processor
    cpu        the flags of /proc/cpuinfo that a machine must have to run it
    compilers  for a target that gives C: the compilers that can build the shared library; the first one installed does
    flags      the options of that compiler
    written    what TVM writes and how it is checked, for targets that this machine may not run
    """

    name: str
    config: Mapping[str, object]
    runs: Runs = Runs.HERE
    device: str = ""
    cpu: tuple[str, ...] = ()
    compilers: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    written: WrittenCode | None = None


def _llvm(name: str, *cpu: str, **config: object) -> Target:
    return Target(f"llvm-{name}", {"kind": "llvm", **config}, cpu=cpu)


def _c(name: str, compiler: str, *flags: str, runs: Runs = Runs.HERE) -> Target:
    return Target(f"c-{name}", {"kind": "c"}, runs, compilers=(compiler,), flags=flags)


# -- checkers

_IGNORED = "/dev/null"
_NVCC = CodeChecker("nvcc", ("-arch=sm_80", "-w", "-cubin", "-o", _IGNORED, "{file}"), "NVIDIA's CUDA toolkit")
_CLANG_CL = CodeChecker(
    "clang",
    ("-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-fsyntax-only", "-w", "{file}"),
    "apt install clang",
)
_NAGA = CodeChecker("naga", ("{file}",), "cargo install naga-cli")
_TINT = CodeChecker("tint", ("--format", "wgsl", "-o", _IGNORED, "{file}"), "Dawn's own build")
_DAWN = CodeChecker(  # Tint as a part of Dawn, on Dawn's null device, which computes nothing
    "node",
    (
        "-e",
        "import(process.argv[1]).then(async ({ create }) => {"
        ' const adapter = await create(["backend=null"]).requestAdapter();'
        ' const features = ["shader-f16", "subgroups"].filter((name) => adapter.features.has(name));'
        " const device = await adapter.requestDevice({ requiredFeatures: features });"
        ' device.pushErrorScope("validation");'
        ' const code = require("fs").readFileSync(process.argv[2], "utf8");'
        " const info = await device.createShaderModule({ code }).getCompilationInfo();"
        ' const errors = info.messages.filter((each) => each.type === "error");'
        " for (const each of errors) console.error(`${each.lineNum}: error: ${each.message}`);"
        " process.exit(errors.length ? 1 : 0); })",
        "{package}",
        "{file}",
    ),
    "npm install --global webgpu",
    package="webgpu",
)
_WASM_LD = CodeChecker("wasm-ld", ("--no-entry", "--allow-undefined", "-o", _IGNORED, "{file}"), "apt install lld")
_WASM_VALIDATE = CodeChecker("wasm-validate", ("{file}",), "apt install wabt")
_NODE_WASM = CodeChecker(
    "node",
    (
        "-e",
        'try { new WebAssembly.Module(require("fs").readFileSync(process.argv[1])); }'
        " catch (refusal) { console.error(`error: ${refusal.message}`); process.exit(1); }",
        "{file}",
    ),
    "apt install nodejs",
)
_AARCH64_LD = CodeChecker(
    "aarch64-linux-gnu-ld", ("-shared", "-o", _IGNORED, "{file}"), "apt install binutils-aarch64-linux-gnu"
)
_LD_LLD = CodeChecker("ld.lld", ("-shared", "-o", _IGNORED, "{file}"), "apt install lld")

TARGETS: tuple[Target, ...] = (
    # TVM's defaults (0.27) are opt-level 3 and the processor x86-64
    Target("llvm", {"kind": "llvm"}),
    _llvm("O0", **{"opt-level": 0}),
    _llvm("O1", **{"opt-level": 1}),
    _llvm("O2", **{"opt-level": 2}),
    _llvm("v2", "sse4_2", "ssse3", "popcnt", mcpu="x86-64-v2"),
    _llvm("v3", "avx2", "fma", "bmi2", "f16c", mcpu="x86-64-v3"),
    _llvm("avx2", "avx2", mattr=["+avx2"]),  # without FMA
    _llvm("avx512", "avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl", mcpu="skylake-avx512"),
    # by default TVM uses g++, which takes twice as long for C (measured: 240 ms instead of 120 ms)
    Target("c", {"kind": "c"}, compilers=("gcc", "cc"), flags=("-O1",)),
    _c("gcc-O0", "gcc", "-O0"),
    _c("gcc-O2", "gcc", "-O2"),
    _c("gcc-O3", "gcc", "-O3"),
    _c("clang", "clang", "-O2"),
    _c(
        "asan",
        "gcc",
        "-O1",
        "-g",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        "-fno-omit-frame-pointer",
        runs=Runs.SANITIZED,
    ),
    # on a machine with a GPU, TVM asks the GPU for its architecture
    Target(
        "cuda",
        {"kind": "cuda", "arch": "sm_80"},
        Runs.ON_A_DEVICE,
        "cuda",
        written=WrittenCode("cuda", ".cu", (_NVCC,)),
    ),
    Target("opencl", {"kind": "opencl"}, Runs.BY_KERNELS, "pocl", written=WrittenCode("opencl", ".cl", (_CLANG_CL,))),
    Target(
        "webgpu",
        {"kind": "webgpu"},
        Runs.BY_KERNELS,
        "lavapipe",
        written=WrittenCode("webgpu", ".wgsl", (_NAGA, _TINT, _DAWN), each=True),
    ),
    Target(
        "wasm32",
        {"kind": "llvm", "mtriple": "wasm32-unknown-unknown"},
        Runs.NOWHERE,
        written=WrittenCode("llvm", ".o", (_WASM_LD, _WASM_VALIDATE, _NODE_WASM)),
    ),
    Target(
        "aarch64",
        {"kind": "llvm", "mtriple": "aarch64-linux-gnu"},
        Runs.NOWHERE,
        written=WrittenCode("llvm", ".o", (_AARCH64_LD, _LD_LLD)),
    ),
)

TARGETS_BY_NAME = {target.name: target for target in TARGETS}


MOST_TEXT = 500
"""The most characters of the text of a target."""


@lru_cache(256)
def target_named(text: str) -> Target:
    """The row with this name; else the target that the text describes, as `cuda -arch=sm_90` does: a kind and
    attributes (`oracles.target_kinds`). Raise `Invalid` for another text.

    Where its code can run follows from the row of its kind, and for a processor from its architecture and features.
    """
    if row := TARGETS_BY_NAME.get(text):
        return row
    config = config_of(text)
    plain = TARGETS_BY_NAME.get(str(config["kind"]))
    if plain is None:
        return Target(text, config, Runs.NOWHERE)
    if plain.name == "llvm":
        return _of_llvm(text, config)
    return replace(plain, name=text, config=config, written=_written_for(plain.written, config))


def canonical(text: str) -> str:
    """The text that lanes use for a target: the name of the first row with the same attributes, if there is one. The
    text may also be what `str` makes of a `tvm.target.Target`: JSON. Raise `Invalid` where it is no target."""
    if text in TARGETS_BY_NAME:
        return text
    config = config_of(text)
    same = next((row.name for row in TARGETS if row.config == config), None)
    found = same or text_of(config)
    if len(found) > MOST_TEXT:
        raise Invalid(f"the target {found[:60]!r} ... has more than {MOST_TEXT} characters")
    return found


def _of_llvm(text: str, config: Mapping[str, object]) -> Target:
    """A target of LLVM. Only the code of a processor whose features are known runs here."""
    triple, cpu = str(config.get("mtriple", _HERE)), str(config.get("mcpu", ""))
    if not _RUNS_HERE.fullmatch(triple):
        written = next((row.written for row in TARGETS if row.config.get("mtriple") == triple), None)
        return Target(text, config, Runs.NOWHERE, written=written)
    if cpu not in FLAGS_OF_CPU:
        return Target(text, config, Runs.NOWHERE)
    features = attributes_of(config, "mattr")
    added = (cpu_flag(name[1:]) for name in features if name.startswith("+"))
    return Target(text, config, cpu=tuple(dict.fromkeys((*FLAGS_OF_CPU[cpu], *added))))


def _written_for(written: WrittenCode | None, config: Mapping[str, object]) -> WrittenCode | None:
    """The checkers of the code of a kind, for the architecture of the target."""
    if written is None or "arch" not in config:
        return written
    checkers = tuple(
        replace(each, arguments=tuple(re.sub(r"^-arch=.*", f"-arch={config['arch']}", word) for word in each.arguments))
        for each in written.checkers
    )
    return replace(written, checkers=checkers)


_HERE = "x86_64"
"""The architecture of the machines that difftvm runs on."""
_RUNS_HERE = re.compile(_HERE + r"(-.*linux.*)?")
"""The triples of these machines, whatever their vendor: `x86_64`, `x86_64-linux-gnu`, `x86_64-conda-linux-gnu`."""


def family_of(target: str) -> str:
    """Return the plain target of which a target is a variant: `llvm` for `llvm-O0` and for `llvm -mcpu=haswell`."""
    return re.split("[- ]", target, maxsplit=1)[0]
