"""Which node of a case a line of the model's source belongs to."""

from __future__ import annotations

from graphs_by_hand import Call, case_of

from fuzzer.lanes.base.pointed import value_made_at
from generators.torch.source import render

NEG: Call = ("v0", "neg", "x0")


def values(inputs: dict[str, str], *calls: Call) -> list[tuple[str, str]]:
    """The lines of `forward`, each with the value that it is attributed to."""
    case = case_of(inputs, calls, calls[-1][0].split()[0])
    lines = render(case.bound).splitlines()
    begin = next(number for number, line in enumerate(lines) if "def forward" in line) + 1
    return [
        (line.partition("#")[0].strip(), value_made_at(number + 1, case))
        for number, line in enumerate(lines)
        if number >= begin
    ]


def test_the_statements_of_a_node_that_writes_in_place_are_its_own() -> None:
    found = values({"x0": "float32[2]", "x1": "float32[2]"}, NEG, ("v1", "add:inplace", "v0 x1"), ("v2", "exp", "v1"))
    assert found == [
        ("v0 = torch.neg(x0)", "v0"),
        ("v1 = v0", "v1"),
        ("v1 += x1", "v1"),
        ("v2 = torch.exp(v1)", "v2"),
        ("return (v2,)", ""),
    ]


def test_a_node_with_several_results_is_named_by_the_first() -> None:
    found = values({"x0": "float32[2,3]"}, NEG, ("v1 v2", "max_dim", "v0", {"dim": 1}))
    assert [value for _, value in found] == ["v0", "v1", ""]


def test_a_check_and_a_condition_belong_to_the_node_that_they_are_part_of() -> None:
    branch: Call = ("v2", "shape_branch", "v1", {"dim": 0, "bound": 5, "then": "relu", "other": "negative"})
    found = values({"x0": "float32[2]"}, NEG, ("v1", "assert_async", "v0", {"low": -9}), branch)
    assert found == [
        ("v0 = torch.neg(x0)", "v0"),
        ("torch._assert_async((v0 > -9).all())", "v1"),
        ("v1 = torch.sqrt(v0 - (-9))", "v1"),
        ("if v1.shape[0] > 5:", "v2"),
        ("v2 = F.relu(v1)", "v2"),
        ("else:", "v2"),
        ("v2 = -v1", "v2"),
        ("return (v2,)", ""),
    ]
