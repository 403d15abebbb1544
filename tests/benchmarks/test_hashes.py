"""The hashes of the packages that the project needs, and what is checked against them."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from importlib.metadata import PathDistribution
from pathlib import Path

import hashes
import pytest
from dependencies import pinned
from packaging.utils import canonicalize_name

WHEEL = "mdurl-0.1.2-py3-none-any.whl"


def test_each_pinned_version_has_hashes_and_no_other_version() -> None:
    """Only other systems and CUDA need more packages than `constraints.txt` pins."""
    constraints = {str(canonicalize_name(name)): version for name, version in pinned().items()}
    known = {pin.name: pin for pin in hashes.all_pins()}
    assert all(pin.hashes for pin in known.values())
    assert {name: known[name].version for name in constraints if name in known} == constraints
    more = known.keys() - constraints.keys()
    assert {name for name in more if not (known[name].marker or hashes.OF_TORCH.fullmatch(name))} == set()


def test_the_files_have_each_package_once_and_torch_alone() -> None:
    others, of_torch = (hashes.pins(path.read_text()) for path in (hashes.HASHES, hashes.TORCH_HASHES))
    names = [pin.name for pin in (*others, *of_torch)]
    assert len(names) == len(set(names))
    assert "torch" in {pin.name for pin in of_torch}
    assert not any(hashes.OF_TORCH.fullmatch(pin.name) for pin in others)
    assert all(hashes.OF_TORCH.fullmatch(pin.name) for pin in of_torch)
    text = hashes.HASHES.read_text()
    assert len(re.findall(r"^[a-zA-Z].*==", text, re.M)) == len(others), "a line was not understood"
    assert text.count("--hash=") == sum(len(pin.hashes) for pin in others)


TEXT = """\
cffi==2.1.1 ; platform_python_implementation != 'PyPy' \\
    --hash=sha256:{a} \\
    --hash=sha256:{b}
hishel[async, httpx]==1.4.0 \\
    --hash=sha256:{c}
nvidia-nccl-cu13==2.29.7 ; sys_platform == 'linux' \\
    --hash=sha256:{d}
torch==2.13.0 \\
    --hash=sha256:{e}
""".format(**{letter: letter * 64 for letter in "abcde"})


def test_a_requirements_file_is_read() -> None:
    cffi, hishel, *_ = hashes.pins(f"# a comment\n{TEXT}")
    marker = "platform_python_implementation != 'PyPy'"
    assert cffi == hashes.Pin("cffi", "2.1.1", frozenset({"a" * 64, "b" * 64}), marker)
    assert hishel == hashes.Pin("hishel", "1.4.0", frozenset({"c" * 64}))


def test_it_is_split() -> None:
    of_torch, others = hashes.split(TEXT)
    assert [pin.name for pin in hashes.pins(of_torch)] == ["nvidia-nccl-cu13", "torch"]
    assert [pin.name for pin in hashes.pins(others)] == ["cffi", "hishel"]
    assert len(of_torch) + len(others) == len(TEXT)


def wheel(text: str = "x = 1\n") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mdurl/__init__.py", text)
    return file.getvalue()


def test_files_of_packages(tmp_path: Path) -> None:
    known = [hashes.Pin("mdurl", "0.1.2", frozenset({hashlib.sha256(wheel()).hexdigest()}))]
    path = tmp_path / WHEEL
    path.write_bytes(wheel())
    assert list(hashes.faults_of_files(tmp_path, known)) == []
    path.write_bytes(wheel("x = 2\n"))
    (changed,) = hashes.faults_of_files(tmp_path, known)
    assert changed.startswith(f"{WHEEL}: sha256 ")
    assert changed.endswith(" is none of the 1 public files of mdurl 0.1.2")
    path.rename(tmp_path / WHEEL.replace("0.1.2", "0.1.3"))
    (tmp_path / "attrs-26.1.0.tar.gz").write_bytes(b"")
    assert list(hashes.faults_of_files(tmp_path, known)) == [
        "attrs-26.1.0.tar.gz: attrs 26.1.0 is not pinned",
        "mdurl-0.1.3-py3-none-any.whl: mdurl 0.1.3 is not pinned",
    ]


def test_an_empty_folder_is_not_good(tmp_path: Path) -> None:
    assert list(hashes.faults_of_files(tmp_path, [])) == [f"{tmp_path}: no wheel and no archive"]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A package of two files that is installed in a folder."""
    (tmp_path / "small").mkdir()
    record = []
    for name in ("__init__.py", "data.bin"):
        path = tmp_path / "small" / name
        path.write_bytes(name.encode())
        listed = hashes._listed(hashlib.sha256(path.read_bytes()).digest())
        record.append(f"small/{name},sha256={listed},{path.stat().st_size}")
    information = tmp_path / "small-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: small\nVersion: 1.0\n")
    (information / "RECORD").write_text("\n".join([*record, "small-1.0.dist-info/RECORD,,"]))
    return tmp_path


def faults(folder: Path) -> list[str]:
    return list(hashes.faults_of_distribution(PathDistribution(folder / "small-1.0.dist-info")))


def test_installed_files(installed: Path) -> None:
    assert faults(installed) == []
    (installed / "small" / "data.bin").write_bytes(b"other")
    (installed / "small" / "__init__.py").unlink()
    assert faults(installed) == ["small: small/__init__.py is missing", "small: small/data.bin was changed"]
    (installed / "small-1.0.dist-info" / "RECORD").unlink()
    assert faults(installed) == ["small: it has no list of its files"]


def test_installed_packages() -> None:
    """mdurl is small, and needed everywhere."""
    right, *_ = [pin for pin in hashes.all_pins() if pin.name == "mdurl"]
    assert list(hashes.faults_of_installed([right])) == []
    other = hashes.Pin("mdurl", "0.1.1", right.hashes)
    assert list(hashes.faults_of_installed([other])) == ["mdurl: 0.1.2 is installed, 0.1.1 is pinned"]
    missing = [hashes.Pin("no-such-package", "1", frozenset()), hashes.Pin("not-here", "1", frozenset(), "x")]
    assert list(hashes.faults_of_installed(missing)) == ["no-such-package: not installed"]
