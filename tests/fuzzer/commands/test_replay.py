"""`fuzz --replay` and other verbs for findings refuse a folder that is no finding with one line and exit code 64."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fuzz_called import Fuzz, refused

from fuzzer.system.terminal import one_sentence
from fuzzer.triage.investigate import Investigated, Sighting
from generators import case_file

pytestmark = pytest.mark.slow


def test_replay_of_a_missing_folder(fuzz: Fuzz, tmp_path: Path) -> None:
    refused(fuzz("--replay", tmp_path / "none"), f"{tmp_path / 'none'}: there is no such folder")


@pytest.mark.parametrize("words", ["show", "replay", "minimize", "triage --campaign", "status --campaign", "check"])
def test_a_name_that_no_file_can_have_is_bad_input(fuzz: Fuzz, words: str) -> None:
    refused(fuzz(*words.split(), f"{'a' * 300}.py"), "File name too long")


def test_replay_of_a_file(fuzz: Fuzz, saved: Path) -> None:
    refused(fuzz("--replay", saved / "case.json"), "case.json: not the folder of a finding, but a file")


VERBS_FOR_FINDINGS = ("replay", "minimize", "blame", "bisect", "report", "file")


@pytest.mark.parametrize("verb", VERBS_FOR_FINDINGS)
def test_every_verb_reports_a_folder_that_is_no_finding_in_one_line(fuzz: Fuzz, saved: Path, verb: str) -> None:
    crashes, empty = saved.parent, saved.parents[1] / "empty"
    empty.mkdir()
    mistyped = saved.with_name(f"{saved.name}x")
    assert fuzz(verb, saved / "none").stderr == f"fuzz: {saved / 'none'}: there is no such folder\n"
    message = one_sentence(f"fuzz: {mistyped}: there is no such folder; did you mean {saved}?")  # paths may be long
    assert fuzz(verb, mistyped).stderr == f"{message}\n"
    assert fuzz(verb, empty).stderr == (f"fuzz: {empty}: not the folder of a finding: there is no finding.json in it\n")
    for folder in (crashes, crashes.parent):
        says = f"{folder}: not one finding, but a folder that holds 1; name one, such as {saved}"
        refused(fuzz(verb, folder), says)


@pytest.mark.parametrize("name", ["case.json", "tensors.safetensors"])
def test_replay_of_a_missing_file(fuzz: Fuzz, saved: Path, name: str) -> None:
    (saved / name).unlink()
    refused(fuzz("--replay", saved), f"{saved / name}: No such file")


@pytest.mark.parametrize("name", ["finding.json", "case.json", "tensors.safetensors"])
@pytest.mark.parametrize("kept", [0, 40, -4])
def test_replay_of_a_truncated_file(fuzz: Fuzz, saved: Path, name: str, kept: int) -> None:
    (saved / name).write_bytes((saved / name).read_bytes()[:kept])
    refused(fuzz("--replay", saved), saved / name)


@pytest.mark.parametrize("name", ["finding.json", "case.json", "tensors.safetensors"])
def test_replay_of_binary_noise(fuzz: Fuzz, saved: Path, name: str) -> None:
    (saved / name).write_bytes(bytes(range(256)) * 8)
    refused(fuzz("--replay", saved), saved / name)


def test_replay_of_a_foreign_case(fuzz: Fuzz, saved: Path, make: Callable[..., tuple[Investigated, Sighting]]) -> None:
    found, _ = make(op="neg", size=4)
    text, tensors = case_file.encode(found.case)
    (saved / "case.json").write_bytes(text)
    (saved / "tensors.safetensors").write_bytes(tensors)
    refused(fuzz("--replay", saved), saved / "case.json", "not the case of this finding")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"relu"', '"neg"', "not the case of this finding"),
        ('"relu"', '"system"', "'system' is not in the operator table"),
        ('"attrs": {}', '"attrs": {"cmd": "x"}', "takes attributes [], not ['cmd']"),
        ('"v0"', '"v0;import os"', "is no name"),
        ("float32[2,3]", "float32[3,2]", "tensors: x0"),
        ('"dialect": "torch"', '"dialect": "mlir"', "dialect 'mlir' is not known"),
        ('"format": 2', '"format": 1', "format 1 is not known; this version reads 2"),
        ('"format": 2', '"format": 3', "format 3 is not known; this version reads 2"),
        ('"role": "input"', '"role": "output"', "Invalid enum value 'output'"),
        ('"role": "input"', '"role": "input", "layout": "diagonal"', "Invalid enum value 'diagonal'"),
        ('"role": "input"', '"role": "buffer", "layout": "strided"', "x0 cannot be strided"),
        ('"role": "input"', '"role": "input", "domain": "odd"', "'odd' is no domain"),
        ('"attrs": {}', '"attrs": {}, "form": "operator"', "has no operator form"),
        ('"attrs": {}', '"attrs": {}, "form": "inplace"', "cannot work in place: x0 may be part of an input"),
        ("float32[2,3]", "float32[n,3]", "symbols: n is not declared"),
        ("float32[2,3]", "complex64[2,3]", "is no tensor type"),
        ('"outputs"', '"more": 1, "outputs"', "more"),
    ],
)
def test_replay_of_an_edited_case(fuzz: Fuzz, saved: Path, old: str, new: str, says: str) -> None:
    path = saved / "case.json"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    refused(fuzz("--replay", saved), path, says)


def test_replay_of_a_deeply_nested_case(fuzz: Fuzz, saved: Path) -> None:
    path = saved / "case.json"
    nested = "[" * 5000 + "]" * 5000
    path.write_text(path.read_text().replace('"attrs": {}', f'"attrs": {{"a": {nested}}}'))
    refused(fuzz("--replay", saved), path)


def test_replay_in_lanes_that_do_not_exist(fuzz: Fuzz, saved: Path) -> None:
    refused(fuzz("--replay", saved, "--lanes", "nosuch"), "no lane matches 'nosuch'")


def test_replay_leaves_a_bad_finding_as_it_is(fuzz: Fuzz, saved: Path) -> None:
    (saved / "case.json").write_text("{")
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    fuzz("--replay", saved)
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]
