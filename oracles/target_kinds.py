"""The kinds of targets that a user may name, and their attributes, as data; and how texts name them.

The kinds and attributes are those of TVM 0.27 (`target.ListTargetKindOptions`). The text is the form that TVM took as a
string up to 0.24: `cuda -arch=sm_90`. TVM gets a dictionary, which every release takes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from generators.graph import Invalid

Config = dict[str, object]
"""The argument of `tvm.target.Target`."""

_COMMON: Mapping[str, type] = {"keys": list, "device": str, "model": str, "libs": list}
_GPU: Mapping[str, type] = {
    "max_num_threads": int,
    "max_threads_per_block": int,
    "max_shared_memory_per_block": int,
    "thread_warp_size": int,
}

# fast-math is left out: it permits other results, which cannot be judged. cl-opt, llvm-options and jit are left out:
# LLVM's own options read and write files, and targets come from findings of strangers too
KINDS: Mapping[str, Mapping[str, type]] = {
    kind: {**_COMMON, **attributes}
    for kind, attributes in {
        "llvm": {
            "mattr": list,
            "mcpu": str,
            "mtriple": str,
            "mfloat-abi": str,
            "mabi": str,
            "num-cores": int,
            "opt-level": int,
            "vector-width": int,
        },
        "c": {"mcpu": str, "march": str, "workspace-byte-alignment": int, "constants-byte-alignment": int},
        "cuda": {**_GPU, "mcpu": str, "arch": str, "registers_per_block": int, "l2_cache_size_bytes": int},
        "opencl": {
            **_GPU,
            "texture_spatial_limit": int,
            "texture_depth_limit": int,
            "max_function_args": int,
            "image_base_address_alignment": int,
        },
        "metal": {**_GPU, "max_function_args": int},
        "webgpu": {**_GPU, "supports_subgroups": bool},
        "vulkan": {
            **_GPU,
            "mattr": list,
            **{
                f"supports_{name}": bool
                for name in ("float16", "float32", "float64", "int8", "int16", "int32", "int64")
            },
            **{f"supports_{name}": bool for name in ("8bit_buffer", "16bit_buffer", "cooperative_matrix")},
        },
        "rocm": {**_GPU, "mcpu": str, "mtriple": str, "mattr": list},
        "hexagon": {"mattr": list, "mcpu": str, "mtriple": str, "num-cores": int, "vtcm-capacity": int},
    }.items()
}
"""By kind, the attributes and their types. A list is one of strings."""

_V2 = ("sse4_2", "ssse3", "popcnt")
_V3 = ("avx2", "fma", "bmi2", "f16c")
_AVX512 = ("avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl")
FLAGS_OF_CPU: Mapping[str, tuple[str, ...]] = {
    "": (),
    "x86-64": (),
    "x86-64-v2": _V2,
    "x86-64-v3": _V3,
    "x86-64-v4": (*_V3, *_AVX512),
    "haswell": (*_V3, "abm", "movbe"),
    "broadwell": (*_V3, "abm", "movbe", "adx", "rdseed"),
    "skylake": (*_V3, "abm", "movbe", "adx", "rdseed"),
    "skylake-avx512": _AVX512,
    "cascadelake": (*_AVX512, "avx512_vnni"),
}
"""By a processor that LLVM's `mcpu` names, the flags of /proc/cpuinfo that a machine must have to run its code."""

_FLAGS = {"bmi": "bmi1", "lzcnt": "abm", "avx512vnni": "avx512_vnni", "avx512bf16": "avx512_bf16", "sha": "sha_ni"}

_VALUE = r"[A-Za-z0-9_.+/-]{1,64}(,[A-Za-z0-9_.+/-]{1,64}){0,15}"
_WORD = re.compile(rf"--?(?P<name>[a-z][a-z0-9_-]{{0,63}})=(?P<value>{_VALUE})", re.ASCII)
TEXT = re.compile(
    rf"[a-z][a-z0-9_]{{0,31}}(-[A-Za-z0-9]{{1,16}}){{0,2}}( -[a-z][a-z0-9_-]{{0,63}}={_VALUE}){{0,16}}", re.ASCII
)
"""The text of a target in a lane: the name of a row, or a kind with attributes."""

_ADDED_BY_TVM = ("kind", "tag", "host")
"""What TVM's JSON has besides attributes. A host is not taken: the rest of the program is compiled for llvm."""


def cpu_flag(feature: str) -> str:
    """The flag of /proc/cpuinfo for a feature of LLVM, such as `sse4_2` for `sse4.2`."""
    return _FLAGS.get(feature, feature.replace(".", "_"))


def attributes_of(config: Mapping[str, object], name: str) -> tuple[str, ...]:
    """An attribute that is a list; () where the target lacks it."""
    value = config.get(name, ())
    assert isinstance(value, list | tuple)
    return tuple(map(str, value))


def config_of(text: str) -> Config:
    """What `tvm.target.Target` gets for a text or its JSON. Raise `Invalid` where a word is no kind or attribute."""
    if text.lstrip().startswith("{"):
        return _of_json(text)
    kind, *words = text.split() or [""]
    read = [_WORD.fullmatch(word) for word in words]
    if unknown := [word for word, found in zip(words, read, strict=True) if found is None]:
        raise Invalid(f"target {text!r}: {unknown[0]!r} is no attribute, such as -mcpu=haswell")
    return _checked(text, kind, [(found["name"], found["value"]) for found in read if found])


def text_of(config: Mapping[str, object]) -> str:
    """The text of a target."""
    words = [f" -{name}={_written(value)}" for name, value in config.items() if name != "kind"]
    return f"{config['kind']}{''.join(words)}"


def _written(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(int(value)) if isinstance(value, bool) else str(value)


def _of_json(text: str) -> Config:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("kind"), str):
        raise Invalid(f"target {text[:60]!r}: it is no JSON of a target")
    pairs = [(name, _written(value)) for name, value in found.items() if name not in _ADDED_BY_TVM]
    return _checked(text[:60], found["kind"], pairs)


def _checked(text: str, kind: str, pairs: list[tuple[str, str]]) -> Config:
    return {"kind": kind, **dict(_typed(text, kind, pairs))}


def _typed(text: str, kind: str, pairs: list[tuple[str, str]]) -> Iterator[tuple[str, Any]]:
    """The attributes with values of their types."""
    if kind not in KINDS:
        raise Invalid(f"no target is called {text!r}; the kinds are {', '.join(KINDS)}")
    for name, value in pairs:
        type = KINDS[kind].get(name)
        if type is None:
            raise Invalid(f"target {text!r}: {kind} has no attribute {name!r}: {', '.join(KINDS[kind])}")
        if not re.fullmatch(_VALUE, value, re.ASCII):
            raise Invalid(f"target {text!r}: {value[:60]!r} is no value of {name}")
        if type in (int, bool) and not re.fullmatch(r"\d{1,12}" if type is int else "[01]|true|false", value):
            raise Invalid(f"target {text!r}: {name} is no {'number' if type is int else '0 or 1'}: {value!r}")
        yield name, _value(type, value)


def _value(type: type, value: str) -> Any:
    match type.__name__:
        case "int":
            return int(value)
        case "bool":
            return value in ("1", "true")
        case "list":
            return value.split(",")
        case _:
            return value
