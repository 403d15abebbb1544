"""What pip installs for the script of a finding: the packages that it imports, in the versions that showed the bug."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from packaging.version import InvalidVersion, Version

from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.record import FindingRecord
from fuzzer.report import repro
from generators import syntax_tree

PACKAGES = {
    "torch": "torch",
    "tvm": "apache-tvm",
    "tvm_ffi": "apache-tvm-ffi",
    "numpy": "numpy",
    "onnx": "onnx",
    "onnxruntime": "onnxruntime",
    "onnxscript": "onnxscript",
    "ml_dtypes": "ml_dtypes",
}
"""The packages on the index, by the modules that scripts import."""


def versions_of(doc: FindingDoc) -> dict[str, str]:
    """The versions where the lane of the finding ran. `tvm@0.26.0` is the version in another toolchain: it matters only
    if the lane ran there."""
    at = f"@{doc.lane.toolchain}"
    here = {name: version for name, version in doc.versions.items() if "@" not in name}
    return {**here, **{name.removesuffix(at): text for name, text in doc.versions.items() if name.endswith(at)}}


def requirements_of(record: FindingRecord) -> tuple[str, ...]:
    """Those of the script that a report shows."""
    return requirements(repro.script(record), versions_of(record.doc))


def requirements(source: str, versions: Mapping[str, str]) -> tuple[str, ...]:
    """For example ("torch==2.13.0", "apache-tvm==0.27.0.post1", "numpy==2.4.6"). Of a local version (2.13.0+cpu), the
    public part. numpy is always there, because TVM requires it. A package without a recorded version has none."""
    imported = {*_imported(syntax_tree.parse(source)), "numpy"}
    return tuple(_pinned(PACKAGES[name], versions.get(name, "")) for name in PACKAGES if name in imported)


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (each.name.partition(".")[0] for each in names)
            case ast.ImportFrom(module=str(module)):
                yield module.partition(".")[0]
            case ast.Attribute(value=ast.Name(id="torch"), attr="onnx"):
                yield from ("onnx", "onnxscript")


def _pinned(package: str, version: str) -> str:
    """A version may come from elsewhere: what is none is left out."""
    try:
        return f"{package}=={Version(version).public}"
    except InvalidVersion:
        return package
