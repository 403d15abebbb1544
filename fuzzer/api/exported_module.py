"""A module of PyTorch, exported in the user's process, as a `Program`: without a file, with the sizes of one run.

The user's process has imported torch, and difftvm does not import it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from importlib import import_module
from typing import Any

import msgspec
import numpy as np

from fuzzer.seeds.torch.exported import (
    LAYOUTS,
    MEMORY_FORMATS,
    NAMES,
    POSITIONAL,
    Argument,
    Complex,
    Device,
    Graph,
    GraphArgument,
    Meta,
    Named,
    Node,
    OptionalTensor,
    Size,
    Tensor,
)
from fuzzer.seeds.torch.exported_steps import Reader
from fuzzer.seeds.torch.program import Program, no_tensor
from generators.graph import DTYPE_NAMES, Array, DType, Invalid, Role
from generators.torch.cut_given import for_lanes
from generators.torch.given import is_tree, without_texts
from generators.torch.in_place import changes_others

CODES = {name: code for code, name in NAMES.items()}
LAYOUT_CODES = {name: code for code, name in LAYOUTS.items()}
FORMAT_CODES = {name: code for code, name in MEMORY_FORMATS.items()}

MOST_SIZE = 1 << 20
"""No open size is tried that is larger."""

GIVES_NUMBER = ("aten.item.default", "aten._local_scalar_dense.default")

REGIONS = ("wrap_with_autocast", "wrap_with_set_grad_enabled")
"""What `with torch.autocast(...)` and `with torch.no_grad()` become: calls of programs of their own."""

VMAP = "_vmap_increment_nesting"
"""What `torch.vmap` begins with. PyTorch writes no program that has it; without it, the same functions are called for
whole batches."""

ROLES = {"PARAMETER": Role.PARAM, "BUFFER": Role.BUFFER, "CONSTANT_TENSOR": Role.BUFFER}


class ExportedModule:
    """An exported program and the values that it is given."""

    def __init__(
        self, torch: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any = None
    ) -> None:
        """Export the module. Raise `Invalid` where PyTorch cannot."""
        self._torch, self._args, self._kwargs = torch, args, kwargs
        self.name = type(model).__name__
        self._exported = self._made(lambda: torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes))
        if self._calls(VMAP):
            self._exported = self._made(lambda: self._exported.run_decompositions({}))
        self._as_exported = self._exported
        self._sizes: Mapping[Any, int] = {}
        self._given = self._placeholders()

    @property
    def open_sizes(self) -> Mapping[Any, tuple[int, int]]:
        """The symbols of the sizes of inputs that the program leaves open, and the smallest and largest number of
        each."""
        ranges = self._as_exported.range_constraints
        symbols = {
            symbol: ranges[symbol]
            for node in self._as_exported.graph.nodes
            if node.op == "placeholder" and isinstance(value := node.meta.get("val"), self._torch.Tensor)
            for size in value.shape
            if not isinstance(size, int)
            for symbol in sorted(size.node.expr.free_symbols, key=str)
            if symbol in ranges
        }
        return {symbol: (_bound(each.lower), _bound(each.upper)) for symbol, each in symbols.items()}

    def at(self, size: int) -> ExportedModule:
        """The same program, whose open sizes have this number, with the numbers of its inputs repeated or cropped."""
        other = copy(self)
        other._sizes = dict.fromkeys(self.open_sizes, size)
        other._exported = self._as_exported
        other._given = other._placeholders()
        return other

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the tensors that the program takes, in its order."""
        signature = self._as_exported.graph_signature
        return tuple(name for name in signature.user_inputs if name in self._given)

    @property
    def results(self) -> int:
        """How many tensors the program returns."""
        specs = self._as_exported.graph_signature.output_specs
        return sum(spec.kind.name == "USER_OUTPUT" and type(spec.arg).__name__ == "TensorArgument" for spec in specs)

    @property
    def no_tensors(self) -> tuple[str, ...]:
        """A line for each result that is a number or a text, such as `x.shape[0]`: lanes return the tensors alone."""
        specs = self._as_exported.graph_signature.output_specs
        results = (spec.arg for spec in specs if spec.kind.name == "USER_OUTPUT")
        names = (repr(each.value) if hasattr(each, "value") else each.name for each in results if _is_number(each))
        return tuple(map(no_tensor, dict.fromkeys(names)))

    @property
    def is_as_exported(self) -> bool:
        """Whether `program` has the values of `document`, by their names: it was not made one that changes nothing."""
        return self._exported is self._as_exported

    def document(self) -> bytes:
        """The program as it was exported, with its tensors alone as results, for a case (`generators.torch.given`),
        which checks it. Raise `Invalid` where PyTorch cannot write it."""
        serde: Any = import_module(f"{self._torch.__name__}._export.serde.serialize")
        try:
            with self._plain_trees():
                written = serde.serialize(
                    self._as_exported,
                    serialize_state_dict=False,
                    serialize_constants=False,
                    serialize_example_inputs=False,
                ).exported_program
        except Exception as error:  # whatever PyTorch raises about what it cannot write
            raise Invalid(f"PyTorch cannot write the program: {_described(error)}") from error
        return msgspec.json.encode(for_lanes(without_texts(msgspec.json.decode(written))))

    @contextmanager
    def _plain_trees(self) -> Iterator[None]:
        """The program returns a plain tuple of its results, as lanes take them: PyTorch writes no named tuple of its
        own, such as that of `x.max(1)`, and no class that it does not know. So it takes them, where a container among
        them is not plain."""
        pytree = self._torch.utils._pytree
        signature = self._as_exported.module_call_graph[0].signature
        own = signature.in_spec, signature.out_spec, signature.forward_arg_names
        signature.out_spec = pytree.tree_flatten((None,) * own[1].num_leaves)[1]
        if not self._is_plain(own[0]):
            signature.in_spec = pytree.tree_flatten(((None,) * own[0].num_leaves, {}))[1]
            signature.forward_arg_names = None
        try:
            yield
        finally:
            signature.in_spec, signature.out_spec, signature.forward_arg_names = own

    def _is_plain(self, tree: Any) -> bool:
        try:
            return is_tree(self._torch.utils._pytree.treespec_dumps(tree))
        except (NotImplementedError, TypeError, ValueError):
            return False

    def _made(self, make: Any) -> Any:
        try:
            return make()
        except Exception as error:  # whatever PyTorch raises about a module that it cannot export
            raise Invalid(f"torch.export cannot export {self.name}: {_described(error)}") from error

    def program(self) -> Program:
        """The program, with the types that its values have for these inputs. A program that changes a part of a tensor
        in place, or several ones at once, is first made one that changes nothing, and one with regions of autocast or
        no_grad one without."""
        if self._calls(*REGIONS) or self._changes_several():
            self._decompose()
        found = self._read()
        read = (name for step in found.steps if step.exact for name in step.exact.operands)
        if any(":" in name for name in (*read, *found.returned)):
            self._decompose()
            found = self._read()
        return found

    def _calls(self, *names: str) -> bool:
        """Whether a node calls a function with one of these names."""
        return any(getattr(node.target, "__name__", "") in names for node in self._exported.graph.nodes)

    def _changes_several(self) -> bool:
        """Whether a node changes other values than its first operand, such as `torch.add(x, y, out=z)`."""
        return any(changes_others(getattr(node.target, "__name__", "")) for node in self._exported.graph.nodes)

    def _decompose(self) -> None:
        self._exported = self._made(lambda: self._exported.run_decompositions({}))
        self._given = self._placeholders()

    def arrays(self, computed: Collection[str]) -> dict[str, Array]:
        """The numbers of all tensors that the program is given, and of these values, which PyTorch computes: complex
        ones as real views."""
        values = {**self._given, **(self._computed(computed) if computed else {})}
        return {name: array for name, value in values.items() if (array := self._array(value)) is not None}

    def _read(self) -> Program:
        exported = self._exported
        graph = _GraphOf(self._torch, exported.graph_module, self._facts()).graph()
        reader = Reader(graph, self.name)
        signature = exported.graph_signature
        roles = {spec.arg.name: ROLES[spec.kind.name] for spec in signature.input_specs if spec.kind.name in ROLES}
        returned = [spec.arg.name for spec in signature.output_specs if spec.kind.name == "USER_OUTPUT"]
        steps, now = reader.read(name for name in returned if isinstance(name, str))
        return Program(self.name, steps, reader.types, roles, {}, now, reader.as_real)

    def _placeholders(self) -> dict[str, Any]:
        """Each tensor that the exported program is given, by its name: inputs, parameters, buffers, constants."""
        leaves = iter(self._torch.utils._pytree.tree_leaves((self._args, self._kwargs)))
        exported, found = self._exported, {}
        for spec in exported.graph_signature.input_specs:
            if spec.kind.name == "USER_INPUT":
                value = next(leaves)
            else:
                owned = exported.state_dict
                value = owned[spec.target] if spec.target in owned else exported.constants[spec.target]
            if isinstance(value, self._torch.Tensor):
                found[spec.arg.name] = self._resized(spec.arg.name, value.detach()).clone()
        return found

    def _resized(self, name: str, value: Any) -> Any:
        """The value with the sizes that were asked for in place of the open ones."""
        if not self._sizes:
            return value
        node = next(each for each in self._exported.graph.nodes if each.name == name)
        for axis, size in enumerate(node.meta["val"].shape):
            if not isinstance(size, int):
                wanted = int(size.node.expr.subs(self._sizes))
                places = self._torch.arange(wanted) % max(value.shape[axis], 1)
                value = value.index_select(axis, places)
        return value

    def _facts(self) -> dict[str, Any]:
        """What each node of a run gives: a `Meta` for a tensor, a list for a list or tuple, a number."""
        facts: dict[str, Any] = {}
        self._run(lambda name, value: facts.__setitem__(name, _fact(self._torch, value)))
        return facts

    def _computed(self, names: Collection[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def keep(name: str, value: Any) -> None:
            for own, part in _named(self._exported.graph_module, name, value):
                if own in names and isinstance(part, self._torch.Tensor):
                    found[own] = part.detach().clone()  # a later node may change it in place

        self._run(keep)
        return found

    def _run(self, keep: Any) -> None:
        """Run the program in PyTorch, and call `keep` with the name and the value of each node. Random numbers of the
        user's process stay as they are."""
        torch = self._torch
        run = torch.fx.Interpreter(self._exported.graph_module)
        run_node = run.run_node

        def and_kept(node: Any) -> Any:
            value = run_node(node)
            keep(node.name, value)
            return value

        run.run_node = and_kept
        given = [node for node in self._exported.graph.nodes if node.op == "placeholder"]
        values = [self._given.get(node.name) for node in given]
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            run.run(*(None if value is None else value.clone() for value in values))

    def _array(self, tensor: Any) -> Array | None:
        """The numbers of a tensor; None where a case cannot hold them. numpy has no bfloat16, so that its bits are read
        as integers."""
        torch = self._torch
        if tensor.layout is not torch.strided or tensor.is_quantized:
            return None
        plain = tensor.detach().cpu().resolve_conj().resolve_neg()
        plain = (torch.view_as_real(plain) if plain.is_complex() else plain).contiguous()
        if plain.dtype == torch.bfloat16:
            bits: Array = plain.view(torch.int16).numpy().view(DType.BFLOAT16.numpy)
            return bits
        if str(plain.dtype).removeprefix("torch.") not in DTYPE_NAMES:
            return None
        numbers: Array = np.asarray(plain.numpy())
        return numbers


def _described(error: Exception) -> str:
    """The exception in one line, with what torch.export proposes to change in `dynamic_shapes`."""
    text = str(error).strip()
    first = (text.splitlines() or ["no message"])[0]
    _, _, fixes = text.partition("Suggested fixes:\n")
    proposed = ", ".join(line.strip() for line in fixes.partition("\n\n")[0].splitlines())
    return f"{type(error).__name__}: {first}{f' It proposes: {proposed}' if proposed else ''}"


def _bound(number: Any) -> int:
    """The number; an infinite one is larger than any that a size has."""
    return int(number) if number.is_Integer else MOST_SIZE


def _fact(torch: Any, value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        layout = LAYOUT_CODES.get(str(value.layout).removeprefix("torch."), 0)
        sizes = [Size(as_int=size if isinstance(size, int) else None) for size in value.shape]
        return Meta(CODES.get(str(value.dtype).removeprefix("torch."), 0), sizes, layout=layout)
    return [_fact(torch, each) for each in value] if isinstance(value, list | tuple) else value


def _named(module: Any, name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The value under its name, or the values of a list under the names that `_GraphOf` gives them."""
    if not isinstance(value, list | tuple):
        yield name, value
        return
    node = next(each for each in module.graph.nodes if each.name == name)
    names = _part_names(node, len(value))
    yield from zip(names, value, strict=True)


def _part_names(node: Any, count: int) -> list[str]:
    """The names of the values of a list: those of the nodes that take them."""
    names = [f"{node.name}_part_{index}" for index in range(count)]
    for user in node.users:
        if user.op == "call_function" and user.target.__name__ == "getitem" and isinstance(user.args[1], int):
            names[user.args[1]] = user.name
    return names


class _GraphOf:
    """A graph of torch.fx in the form of a file of torch.export.save.

    facts  what each node gives, by name; those that are missing are taken from the export
    """

    def __init__(self, torch: Any, module: Any, facts: Mapping[str, Any]) -> None:
        self._torch, self._module, self._facts = torch, module, facts

    def graph(self) -> Graph:
        nodes: list[Node] = []
        types: dict[str, Meta] = {}
        given: list[Argument] = []
        returned: list[Argument] = []
        alone = False
        for node in self._module.graph.nodes:
            fact = self._fact_of(node)
            if node.op == "placeholder":
                if isinstance(fact, Meta):
                    given.append(Argument(as_tensor=Tensor(node.name)))
                    types[node.name] = fact
            elif node.op == "output":
                returned = [self._argument(each) for each in self._torch.utils._pytree.tree_leaves(node.args)]
                alone = isinstance(node.args[0], self._torch.fx.Node)
            elif node.op == "call_function" and not self._is_getitem(node):
                outputs = list(self._outputs(node, fact, types))
                if outputs:
                    nodes.append(Node(self._target(node), list(self._inputs(node)), outputs, isinstance(fact, Meta)))
        return Graph(given, nodes, types, returned, is_single_tensor_return=alone)

    def _fact_of(self, node: Any) -> Any:
        if node.name in self._facts:
            return self._facts[node.name]
        return _fact(self._torch, node.meta.get("val"))

    def _is_getitem(self, node: Any) -> bool:
        return getattr(node.target, "__name__", "") == "getitem" and isinstance(node.args[0], self._torch.fx.Node)

    def _target(self, node: Any) -> str:
        if isinstance(node.target, self._torch._ops.OpOverload):
            return f"torch.ops.{node.target}"
        return f"torch.ops.higher_order.{node.target}"

    def _outputs(self, node: Any, fact: Any, types: dict[str, Meta]) -> Iterator[Argument]:
        """The values that a node makes: tensors, and numbers that depend on data."""
        match fact:
            case Meta():
                types[node.name] = fact
                yield Argument(as_tensor=Tensor(node.name))
            case list():
                names = _part_names(node, len(fact))
                types.update((name, each) for name, each in zip(names, fact, strict=True) if isinstance(each, Meta))
                if self._gives_list(node):
                    yield Argument(as_tensors=[Tensor(name) for name in names])
                else:
                    for name, each in zip(names, fact, strict=True):
                        yield Argument(as_tensor=Tensor(name)) if isinstance(each, Meta) else Argument(as_none=True)
            case int() | float() if str(node.target) in GIVES_NUMBER:
                yield Argument(as_value=Tensor(node.name))

    def _gives_list(self, node: Any) -> bool:
        schema = getattr(node.target, "_schema", None)
        return schema is None or len(schema.returns) == 1

    def _inputs(self, node: Any) -> Iterator[Named]:
        schema = getattr(node.target, "_schema", None)
        names = [argument.name for argument in schema.arguments] if schema else []
        for index, value in enumerate(node.args):
            yield Named(names[index] if schema else "", self._argument(value), POSITIONAL)
        for name, value in node.kwargs.items():
            yield Named(name, self._argument(value))

    def _argument(self, value: Any) -> Argument:
        torch = self._torch
        match value:
            case torch.fx.Node():
                return self._value(value)
            case None:
                return Argument(as_none=True)
            case bool():
                return Argument(as_bool=value)
            case int():
                return Argument(as_int=value)
            case float():
                return Argument(as_float=value)
            case complex():
                return Argument(as_complex=Complex(value.real, value.imag))
            case str():
                return Argument(as_string=value)
            case torch.dtype():
                return Argument(as_scalar_type=CODES.get(str(value).removeprefix("torch."), 0))
            case torch.device():
                return Argument(as_device=Device(value.type))
            case torch.layout():
                return Argument(as_layout=LAYOUT_CODES.get(str(value).removeprefix("torch."), 0))
            case torch.memory_format():
                return Argument(as_memory_format=FORMAT_CODES.get(str(value).removeprefix("torch."), 0))
            case list() | tuple():
                return _listed([self._argument(each) for each in value])
            case _:
                return Argument()

    def _value(self, node: Any) -> Argument:
        """A tensor, a branch, or a number. A size that depends on data is the one of this run."""
        if node.op == "get_attr":
            module = getattr(self._module, node.target)
            if not isinstance(module, self._torch.fx.GraphModule):
                return Argument()
            return Argument(as_graph=GraphArgument(node.target, _GraphOf(self._torch, module, {}).graph()))
        fact = self._fact_of(node)
        if isinstance(fact, Meta):
            return Argument(as_tensor=Tensor(node.name))
        if str(node.target) in GIVES_NUMBER:
            return Argument(as_value=Tensor(node.name))
        return Argument(as_int=fact) if type(fact) is int and not _from_data(node) else Argument()


def _is_number(result: Any) -> bool:
    """Whether a result of a program is a number or a text, or a size that the program leaves open."""
    kind = type(result).__name__
    return kind.startswith("Sym") or (kind == "ConstantArgument" and result.value is not None)


def _from_data(node: Any) -> bool:
    """Whether a number is computed from one that a tensor holds."""
    waiting, visited = [node], set()
    while waiting:
        each = waiting.pop()
        if str(each.target) in GIVES_NUMBER:
            return True
        if each not in visited and str(each.target) != "aten.sym_size.int":
            visited.add(each)
            waiting += each.all_input_nodes
    return False


def _listed(items: list[Argument]) -> Argument:
    """A list of tensors or of numbers; an unknown argument where it is of several kinds."""
    if all(item.as_tensor for item in items) and items:
        return Argument(as_tensors=[item.as_tensor for item in items if item.as_tensor])
    if all(item.as_tensor or item.as_none for item in items) and items:
        return Argument(as_optional_tensors=[OptionalTensor(as_tensor=item.as_tensor) for item in items])
    ints = [item.as_int for item in items if item.as_int is not None]
    bools = [item.as_bool for item in items if item.as_bool is not None]
    floats = [item.as_float for item in items if item.as_float is not None]
    match len(items):
        case count if count == len(ints):
            return Argument(as_ints=ints)
        case count if count == len(bools):
            return Argument(as_bools=bools)
        case count if count == len(floats):
            return Argument(as_floats=floats)
    return Argument()
