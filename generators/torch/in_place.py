"""Changes in place in a given program of PyTorch: under which name a value is read after them, and which values share
memory."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from generators.graph import Invalid

Document = Mapping[str, Any]

_ATEN = re.compile(r"torch\.ops\.aten\.(\w+)\.(\w+)")
_CHANGES = re.compile(r"(?!_foreach_)\w*[A-Za-z0-9]_|__i(and|or|xor|lshift|rshift)__")
"""The names of operators that change their first operand, and return it."""
_CHANGES_OTHERS = re.compile(
    r"_foreach_\w*_\.\w+|\w+\.(\w+_)?out(_\w*)?|\w+_backward\.grad_input|\w+\.(output|result|inverse|values(_stable)?)"
    r"|geqrf\.a|\w+\.(dim_(max|min|values)|U|L|X|Q|sign|eigvals|eigenvalues|OutTensor|OutScalar_(Self|Other))"
    r"|(_batch_norm_with_update|_native_batch_norm_legit|rrelu_with_noise|_cummax_helper|_cummin_helper|set_data)\.default"
    r"|(_fused_moving_avg_obs_fq_helper|fused_moving_avg_obs_fake_quant)\.default"
)
"""The operators, with their overloads, that change other operands."""

SHARING = frozenset(
    (
        *("_autocast_to_full_precision", "_autocast_to_reduced_precision", "_conj", "_fw_primal"),
        *("_grad_sum_to_size", "_indices", "_make_dual", "_ncf_unsqueeze", "_ncf_view", "_neg_view"),
        *("_nested_get_values", "_nested_view_from_buffer", "_nested_view_from_jagged", "_reshape_alias"),
        *("_sparse_broadcast_to", "_test_autograd_multiple_dispatch_view", "_unpack_dual", "_unsafe_view", "_values"),
        *("adjoint", "alias", "alpha_dropout", "as_strided", "as_tensor", "atleast_1d", "atleast_2d", "atleast_3d"),
        *("broadcast_tensors", "broadcast_to", "cartesian_prod", "ccol_indices", "chain_matmul", "chunk", "coalesce"),
        *("col_indices", "conj", "conj_physical", "contiguous", "cpu", "crow_indices", "cuda", "data", "detach"),
        *("diagonal", "dropout", "dsplit", "einsum", "expand", "expand_as", "feature_alpha_dropout"),
        *("feature_dropout", "flatten", "flatten_dense_tensors", "hsplit", "imag", "indices", "lift", "lift_fresh"),
        *("linalg_diagonal", "linalg_multi_dot", "matrix_H", "meshgrid", "mH", "moveaxis", "movedim", "mT", "narrow"),
        *("numpy_T", "permute", "pin_memory", "positive", "ravel", "real", "reshape", "reshape_as", "resolve_conj"),
        *("resolve_neg", "row_indices", "select", "slice", "slice_inverse", "split", "split_with_sizes", "squeeze"),
        *("sum_to_size", "swapaxes", "swapdims", "t", "tensor_split", "to", "to_dense", "transpose", "type_as"),
        *("unbind", "unflatten", "unflatten_dense_tensors", "unfold", "unsafe_chunk", "unsafe_split"),
        *("unsafe_split_with_sizes", "unsqueeze", "values", "view", "view_as", "view_as_complex", "view_as_real"),
        *("vsplit",),
    )
)
"""The operators of ATen whose results may share memory with an operand, or be one."""


def changes_operand(name: str) -> bool:
    """Whether an operator of ATen changes its first operand, and returns it: `relu_`, `__iand__`."""
    return _CHANGES.fullmatch(name) is not None


def changes_others(operator: str) -> bool:
    """Whether an operator of ATen, with its overload, changes other operands: `add.out`, `_foreach_add_.List`."""
    return _CHANGES_OTHERS.fullmatch(operator) is not None


def without_change(name: str) -> str:
    """The operator that computes what another one writes into its first operand: `relu` of `relu_`, `__and__` of
    `__iand__`."""
    return f"__{name[3:]}" if name.startswith("__i") else name.removesuffix("_")


@dataclass(frozen=True, slots=True)
class Change:
    """A node that changes its operand in place. `shared` are the values that share the operand's memory before it, with
    the operand."""

    operand: str
    shared: frozenset[str]


@dataclass(frozen=True, slots=True)
class InOrder:
    """The nodes of a program, each with the names under which it reads its operands where it stands: after
    `y = relu_(x)`, x is read as y. What a change has made of other values with the same memory has a name that no node
    makes, with a colon.

    changes  by the name of the first result
    """

    nodes: tuple[Document, ...]
    changes: Mapping[str, Change]


def in_order(nodes: Iterable[Document]) -> InOrder:
    """Raise `Invalid` where a change cannot be followed."""
    follow = _Follow()
    return InOrder(tuple(map(follow.node, nodes)), follow.changes)


class _Follow:
    """Follows the memory of values, node after node."""

    def __init__(self) -> None:
        self.changes: dict[str, Change] = {}
        self._now: dict[str, str] = {}
        self._shared: dict[str, set[str]] = {}  # one set for all values that share memory

    def node(self, node: Document) -> Document:
        """The node with the names of now. Its results and changes are noted."""
        read = {**node, "inputs": renamed(node["inputs"], self._now)} if self._now else node
        operator = _ATEN.fullmatch(str(node["target"]))
        operands, results = tuple(names_in(read["inputs"])), tuple(names_in(node["outputs"]))
        if operator and changes_others(f"{operator[1]}.{operator[2]}"):
            raise Invalid(f"{node['target']} changes values in a way that is not followed")
        if operator and operands and results and changes_operand(operator[1]):
            self._change(operands[0], results[0])
        elif operator and operator[1] in SHARING:
            self._share((*operands, *results))
        return read

    def _change(self, operand: str, result: str) -> None:
        shared = self._share((operand,))
        self.changes[result] = Change(operand, frozenset(shared))
        for name in shared:
            self._now[name] = result if self._now.get(name, name) == operand else f"{name}:{result}"
        self._share((operand, result))

    def _share(self, names: Iterable[str]) -> set[str]:
        """Note that the values share memory, and return all that do."""
        groups = {id(group): group for name in names if (group := self._shared.setdefault(name, {name}))}
        joined = max(groups.values(), key=len, default=set[str]())
        for group in groups.values():
            if group is not joined:
                joined |= group
                self._shared |= dict.fromkeys(group, joined)
        return joined


def with_copies(order: InOrder, nodes: Sequence[Document], kept: Collection[str]) -> tuple[list[Document], list[str]]:
    """Return some nodes of a program, in order, so that no value of `kept` is changed: where one of them has the memory
    that a node changes, the node gets a copy of its operand. Also return the names of the values that are copied; each
    copy is called `copy_of`."""
    found: list[Document] = []
    copied = []
    for node in nodes:
        change = order.changes.get(next(names_in(node["outputs"]), ""))
        if change and not change.shared.isdisjoint(kept):
            first, *others = node["inputs"]
            copied.append(change.operand)
            found.append(_copy(change.operand))
            node = {**node, "inputs": [renamed(first, {change.operand: copy_of(change.operand)}), *others]}
        found.append(node)
    return found, copied


def copy_of(name: str) -> str:
    return f"{name}__copy"


def _copy(name: str) -> Document:
    return {
        "target": "torch.ops.aten.clone.default",
        "inputs": [{"name": "self", "arg": {"as_tensor": {"name": name}}, "kind": 1}],
        "outputs": [{"as_tensor": {"name": copy_of(name)}}],
        "metadata": {},
        "is_hop_single_tensor_return": None,
    }


def names_in(value: Any) -> Iterator[str]:
    """The names of tensors and numbers in arguments. A program within an argument has names of its own."""
    match value:
        case list():
            for each in value:
                yield from names_in(each)
        case {"name": str(), "arg": argument}:
            yield from names_in(argument)
        case {"as_name": str(name)} | {"name": str(name)}:
            yield name
        case dict():
            for key, each in value.items():
                if key != "as_graph":
                    yield from names_in(each)


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """The arguments with other names in the place of these, where `names_in` finds them."""
    match value:
        case list():
            return [renamed(each, names) for each in value]
        case {"name": str(), "arg": argument}:
            return {**value, "arg": renamed(argument, names)}
        case {"name": str(name)} if name in names:
            return {**value, "name": names[name]}
        case dict():
            return {key: each if key == "as_graph" else renamed(each, names) for key, each in value.items()}
        case _:
            return value
