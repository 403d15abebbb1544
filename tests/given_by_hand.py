"""Cases with a given model, made by hand. Their graphs say another thing on purpose."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import msgspec
import torch

from generators.graph import Array, Case, Given, Graph, Input, Node, Role, TensorType, Value
from generators.torch.given import without_texts


def document(model: torch.nn.Module, *args: Any, **options: Any) -> bytes:
    """The document of the exported program. The arguments are those of torch.export.export."""
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, *args, **options), file)
    return msgspec.json.encode(
        without_texts(msgspec.json.decode(zipfile.ZipFile(file).read("archive/models/model.json")))
    )


def case_of(dialect: str, op: str, model: bytes, names: dict[str, str], arrays: dict[str, Array], **more: Any) -> Case:
    """A case whose graph returns what `op` makes of its inputs that are no parameters."""
    items = [
        Input(Value(name, TensorType.parse(f"{array.dtype}{list(array.shape)}".replace(" ", ""))), role)
        for name, array in arrays.items()
        for role in [Role.PARAM if name.startswith("w") else Role.INPUT]
    ]
    free = [item.value for item in items if item.role is Role.INPUT]
    nodes = [Node(op, (each.name,), {}, (Value(f"v{at}", each.type),)) for at, each in enumerate(free)]
    graph = Graph(
        tuple(items), tuple(nodes), tuple(f"v{at}" for at in range(len(free))), dialect, opset=more.pop("opset", 0)
    )
    return Case(graph, arrays, given=Given(graph, model, names, **more))
