"""PyTorch's own samples as cases: each computes what the sample does, the same each time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.testing._internal.opinfo.core import SampleInput

from fuzzer.children.samples import MAX_REFUSED, samples, samples_of
from fuzzer.children.validity import verdict
from generators import case_file
from generators.check import check
from generators.graph import Case

pytestmark = pytest.mark.exhaustive
"""PyTorch's operator database takes seconds to load."""


def named(ops: str, per_dtype: int = 1) -> dict[str, Case | str]:
    with torch.no_grad():
        return dict(samples(ops, per_dtype))


def reasons(ops: str, dtype: str = "float32") -> dict[str, str]:
    found = {key.rsplit("/", 2)[0]: case for key, case in named(ops).items() if key.split("/")[1] == dtype}
    return {name: case if isinstance(case, str) else "" for name, case in found.items()}


def test_samples_are_cases_whose_results_have_the_declared_types() -> None:
    cases = named("add,cat,split,max,nn.functional.pad,index_put,full,softmax", 2)
    assert len(cases) > 150
    for key, case in cases.items():
        if isinstance(case, str):
            assert (key.partition("/")[0], case) == ("split", "gives a list of fewer than two")
            continue
        check(case)
        assert verdict(case) in (("ok", ""), ("not finite", "")), key


def test_keys_are_operator_variant_dtype_and_number() -> None:
    cases = named("max,nn.functional.relu", 2)
    operators = {key.rsplit("/", 2)[0] for key in cases}
    assert operators == {"max_binary", "max_reduction_no_dim", "max_reduction_with_dim", "nn.functional.relu"}
    assert {key for key in cases if key.startswith("nn.functional.relu/float32/")} == {
        "nn.functional.relu/float32/0",
        "nn.functional.relu/float32/1",
    }
    assert {key.split("/")[1] for key in cases if key.startswith("max_binary")} == {
        *("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")
    }


def test_calls_are_written_with_their_literals() -> None:
    def call(key: str) -> object:
        case = named(key.split("/")[0])[key]
        assert isinstance(case, Case)
        return case.graph.nodes[0].attrs["call"]

    assert call("cat/float32/0") == "torch.cat([a0, a1], dim=-1)"
    assert call("nn.functional.softsign/bfloat16/0") == "torch.nn.functional.softsign(a0)"
    assert call("isnan/int8/0") == "torch.isnan(a0)"


@pytest.mark.parametrize(
    ("operator", "why"),
    [
        ("fft.fft", "a value is torch.complex64: not among our types"),
        ("empty_like", "gives memory that nobody wrote"),
        ("multinomial", "no function of this name that a case may call"),
        ("item", "no public function computes it"),
    ],
)
def test_why_a_sample_has_no_case(operator: str, why: str) -> None:
    assert reasons(operator) == {operator: why}


def test_the_reason_of_a_refusal_is_one_line_of_bounded_length() -> None:
    (why,) = reasons("to_sparse").values()
    assert why.startswith("NotImplementedError: Could not run 'aten::equal'")
    assert "\n" not in why
    assert len(why) <= 200


class Info:
    """An operator's samples as PyTorch has them: each a number, of which the even ones are refused."""

    name = "abs"
    variant_test_name = ""
    op = staticmethod(torch.abs)

    def __init__(self, count: int, end: Exception | None = None) -> None:
        self._count, self._end = count, end

    def supported_dtypes(self, device: str) -> set[torch.dtype]:
        return {torch.float32}

    def sample_inputs_func(self, *_: object) -> Iterator[SampleInput]:
        for number in range(self._count):
            yield SampleInput(torch.ones(2, dtype=torch.float32 if number % 2 else torch.complex64))
        if self._end:
            raise self._end


REFUSED = "a value is torch.complex64: not among our types"


def refusals(info: Info, wanted: int) -> dict[str, str | None]:
    found = samples_of("abs", info, wanted)
    return {key: made if isinstance(made, str) else None for key, made in found}


def test_every_refused_sample_is_reported_also_between_accepted_ones() -> None:
    assert refusals(Info(9), 2) == {
        "abs/float32/0": REFUSED,
        "abs/float32/1": None,
        "abs/float32/2": REFUSED,
        "abs/float32/3": None,
    }


def test_the_end_after_too_many_refused_samples_is_reported() -> None:
    refused = refusals(Info(99), 60)
    assert list(refused.values()).count(REFUSED) == MAX_REFUSED
    assert refused["abs/float32/39"] == "20 samples are refused: no more are looked at"


def test_an_error_of_the_samples_own_code_is_reported() -> None:
    refused = refusals(Info(2, ValueError("no\nmore " + "x" * 999)), 5)
    assert list(refused) == ["abs/float32/0", "abs/float32/1", "abs/float32/2"]
    assert str(refused["abs/float32/2"]).startswith("no samples: ValueError: no more xxx")


def test_an_operator_without_samples_is_reported() -> None:
    assert refusals(Info(0), 5) == {"abs/float32/0": "no samples"}


def test_a_random_function_is_no_case_even_where_two_draws_agree() -> None:
    """The first sample of bernoulli is a 0-d tensor: two draws of it are equal more often than not."""
    for case in named("bernoulli,randn_like", 4).values():
        assert isinstance(case, str) or case.graph.output_types[0].numel == 0


def test_an_unknown_operator_has_no_samples() -> None:
    assert named("nosuch") == {}


def test_the_child_writes_a_folder_for_each_case_and_prints_its_key(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fuzzer.children.samples", str(tmp_path / "s"), "--ops", "erf,fft.fft"]
    done = subprocess.run([*command, "--samples", "1"], capture_output=True, text=True, timeout=120, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["at"] for line in lines if "at" in line] == ["erf", "fft.fft"]
    keys = [line for line in lines if "key" in line]
    cases = [line["key"] for line in keys if "why" not in line]
    assert len(keys) > len(cases) > 3
    assert {path.name for path in (tmp_path / "s").iterdir()} == {key.replace("/", "-") for key in cases}
    for key, case in named("erf").items():
        assert isinstance(case, Case)
        assert case_file.read(tmp_path / "s" / key.replace("/", "-")).graph == case.graph
