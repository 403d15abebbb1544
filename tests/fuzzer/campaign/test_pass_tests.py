"""Cases that are drawn for a pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzer.campaign.cases.cases import random_cases
from fuzzer.campaign.cases.torch.pass_tests import OPEN_PERCENT, PASS_TESTS, PERCENT, pass_test
from fuzzer.campaign.plan.settings import Settings
from fuzzer.cases.open_sizes import why_not
from generators.table import TABLE
from generators.torch.varied_motifs import VARIED_MOTIFS


def test_some_tests_have_one_and_the_seed_and_the_number_decide_it() -> None:
    drawn = [pass_test(3, index) for index in range(4000)]
    assert drawn == [pass_test(3, index) for index in range(4000)]
    having = [each for each in drawn if each]
    assert 0.8 * PERCENT < 100 * len(having) / len(drawn) < 1.2 * PERCENT
    assert {each.row.name for each in having} == {each.row.name for each in PASS_TESTS}


def test_each_has_what_wakes_its_pass() -> None:
    by_name = {each.row.name: each for each in PASS_TESTS}
    assert {"ConvertLayout-NHWC", "AdjustMatmulOrder", "ReorderPermuteDimsAfterConcat"} <= set(by_name)
    assert [motif.name for motif in by_name["AdjustMatmulOrder"].motifs] == ["matmul_chain", "varied_matmul_chain"]
    assert [op.name for op in by_name["FoldBatchnormToConv2D"].ops] == ["conv2d", "conv2d_padded"]


@pytest.mark.parametrize(
    ("row", "ops", "acts"),
    [
        ("AdjustMatmulOrder", "linear relu", True),
        ("AdjustMatmulOrder", "conv2d relu", False),
        ("AdjustMatmulOrder", "MatMul-13 Relu-14", True),
        ("FoldBatchnormToConv2D", "Conv-11 Relu-14", True),
        ("FoldBatchnormToConv2D", "Gemm-13 Relu-14", False),
        ("ReorderPermuteDimsAfterConcat", "permute cat relu", True),
        ("ReorderPermuteDimsAfterConcat", "permute relu", False),
        ("FuseOps", "relu", True),  # a chain of elementwise operators has none that it always has
    ],
)
def test_a_case_must_have_operators_that_the_pass_rewrites(row: str, ops: str, acts: bool) -> None:
    (each,) = [test for test in PASS_TESTS if test.row.name == row]
    assert each.may_act_on(frozenset(ops.split())) is acts


def test_every_case_that_is_drawn_for_a_pass_has_what_wakes_it(tmp_path: Path) -> None:
    draw = random_cases(Settings(tmp_path, 4), 4)
    for index in range(400):
        if wanted := pass_test(4, index):
            case = draw(index)
            assert case is not None
            assert wanted.may_act_on(case.graph.rows), (wanted.row.name, case.graph.ops)


def test_the_case_has_operators_that_the_pass_rewrites(tmp_path: Path) -> None:
    draw, met = random_cases(Settings(tmp_path, 3), 3), 0
    for index in range(400):
        wanted = pass_test(3, index)
        if wanted is None or not wanted.row.relevant:
            continue
        case = draw(index)
        assert case is not None
        assert wanted.open_sizes or not case.graph.symbols
        assert any(wanted.row.rewrites(TABLE[op]) for op in case.graph.rows), case.graph.ops
        assert wanted.may_act_on(case.graph.rows)
        met += 1
    assert met > 5


def test_sizes_stay_open_in_some_cases_of_passes_whose_motifs_draw_open_sizes(tmp_path: Path) -> None:
    draw, wanted = random_cases(Settings(tmp_path, 6), 6), {}
    for index in range(3000):
        if (each := pass_test(6, index)) is not None:
            wanted[index] = each.open_sizes
            assert not each.open_sizes or set(each.motifs) <= set(VARIED_MOTIFS)
    assert 0.4 * OPEN_PERCENT < 100 * sum(wanted.values()) / len(wanted) < 1.2 * OPEN_PERCENT
    cases = [case for index, opened in wanted.items() if opened and (case := draw(index))]
    opened = [case for case in cases if why_not(case) is None]
    assert len(opened) > 0.6 * len(cases)
    assert all(case.graph.bind(case.sizes) == case.bound for case in opened)
