from dataclasses import replace

import pytest
import torch

from fuzzer.lanes.torch.one_pass import ONE_PASS
from generators.builder import Builder
from generators.choice import NumpySource
from generators.graph import Attrs, Form, Node
from generators.random_graph import with_values
from generators.table import TABLE
from generators.torch.source import statements


def drawn(name: str, count: int) -> list[tuple[Node, list[torch.Tensor]]]:
    """Calls of the row alone, and their operands in double precision."""
    made = []
    for index in range(count):
        builder = Builder(NumpySource(11, index))
        if builder.grow(TABLE[name]):
            case = with_values(builder)
            node = replace(case.graph.nodes[0], form=Form.PLAIN)
            made.append((node, [torch.from_numpy(case.tensors[name].astype(float)) for name in node.args]))
    return made


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ONE_PASS))
def test_one_pass_is_the_same_function_in_exact_arithmetic(name: str) -> None:
    calls = drawn(name, 80)
    for node, args in calls:
        names = tuple(f"a{i}" for i in range(len(args)))
        scope = {"torch": torch, "F": torch.nn.functional, **dict(zip(names, args, strict=True))}
        exec("\n".join(statements(node, names)), scope)
        right = tuple(scope[value.name] for value in node.results)
        torch.testing.assert_close(ONE_PASS[name](args, node.attrs, 0), right, rtol=1e-6, atol=1e-6)
    assert len(calls) > 30
    assert name.startswith(("var", "std")) or sum(len(args) > 1 for _, args in calls) > 10


def test_one_pass_loses_digits_where_the_spread_is_small() -> None:
    x = torch.tensor([[[1000.0], [1000.1]]])
    attrs = {"num_groups": 1, "eps": 1e-5}
    (one,), two = ONE_PASS["group_norm"]([x], attrs, 1), torch.nn.functional.group_norm(x, 1)
    assert float((one - two).abs().max()) > 0.1


def test_a_fused_shift_does_not_cancel_a_number_that_equals_its_mean() -> None:
    x = torch.tensor([[1.1]])
    (one,) = ONE_PASS["layer_norm"]([x], {"normalized_shape": (1,), "eps": 1e-12}, 1)
    assert 0 < float(one.abs()) < 1


@pytest.mark.parametrize("dim", [None, 1, -1, (0, -1), ()])
@pytest.mark.parametrize("keepdim", [False, True])
def test_variances_over_all_kinds_of_dims(dim: object, keepdim: bool) -> None:
    x = torch.arange(24.0, dtype=torch.float64).reshape(2, 3, 4) ** 2
    attrs: Attrs = {"dim": dim, "correction": 1, "keepdim": keepdim}
    right = torch.var(x, dim=dim, correction=1, keepdim=keepdim)
    mean = torch.mean(x, dim=dim, keepdim=keepdim)
    torch.testing.assert_close(ONE_PASS["var_mean"]([x], attrs, 0), (right, mean))
    torch.testing.assert_close(ONE_PASS["std_mean"]([x], attrs, 0), (right.sqrt(), mean))
    for name in ("var", "std"):
        torch.testing.assert_close(ONE_PASS[name]([x], attrs, 0), ONE_PASS[f"{name}_mean"]([x], attrs, 0)[:1])


SUMS = pytest.mark.parametrize(
    ("dtype", "terms", "off"), [("float32", 1024, 32), ("float64", 4, 2), ("bfloat16", 4, 1)]
)
"""The error of a sum by its number of terms, in units of the dtype: the root of the terms, and at least one."""


def ones_and_threes(dtype: str, terms: int) -> torch.Tensor:
    """Mean 2, E[x^2] 5, variance 1."""
    return torch.tensor([1.0, 3.0], dtype=getattr(torch, dtype)).repeat(1, terms // 2)


@SUMS
@pytest.mark.parametrize("direction", [1, -1])
def test_the_error_of_a_variance_is_that_of_the_sum_of_squares(
    dtype: str, terms: int, off: int, direction: int
) -> None:
    x = ones_and_threes(dtype, terms)
    (variance,) = ONE_PASS["var"]([x], {"dim": (1,), "correction": 0, "keepdim": False}, direction)
    units = (float(variance) - 1) / torch.finfo(x.dtype).eps
    assert units == pytest.approx(direction * 5 * off, abs=1)


@SUMS
@pytest.mark.parametrize("direction", [1, -1])
def test_the_error_of_a_normalised_number_is_that_of_both_sums(
    dtype: str, terms: int, off: int, direction: int
) -> None:
    """(x - 2 (1 + off)) / sqrt(1 + 5 direction off), to the first order."""
    x = ones_and_threes(dtype, terms)
    (made,) = ONE_PASS["layer_norm"]([x], {"normalized_shape": (terms,), "eps": 0.0}, direction)
    low, high = ((made[0, :2].double() - torch.tensor([-1.0, 1.0])) / torch.finfo(x.dtype).eps).tolist()
    assert low == pytest.approx((2.5 * direction - 2) * off, abs=1)
    assert high == pytest.approx((-2.5 * direction - 2) * off, abs=1)
