"""Graphs are cut, made small and given numbers, exactly so."""

from __future__ import annotations

import numpy as np
import pytest
from graphs_by_hand import graph_of

from fuzzer.seeds.cut import halves, pieces
from fuzzer.seeds.domains import domains, draw_case
from fuzzer.seeds.extract import structure
from fuzzer.seeds.shrink import TooLarge, shrunk
from generators.check import check
from generators.choice import NumpySource
from generators.domain import ANY, NONZERO, POSITIVE, distinct, within
from generators.graph import Graph, Role, TensorType


def typed(graph: Graph) -> list[str]:
    return [str(value.type) for value in graph.values()]


def chain(count: int) -> Graph:
    calls = [(f"v{i}", "neg" if i % 2 else "relu", f"v{i - 1}" if i else "x0") for i in range(count)]
    return graph_of({"x0": "float32[2]"}, list(calls), f"v{count - 1}")


# --- cutting


def test_stretches_overlap_by_half() -> None:
    graph = chain(7)
    found = [piece.graph.ops for piece in pieces(graph.nodes, graph.types, {}, 4, "torch")]
    assert found == [("relu", "neg", "relu", "neg"), ("relu", "neg", "relu", "neg"), ("relu", "neg", "relu")]


def test_a_piece_is_a_graph_of_its_own() -> None:
    graph = graph_of(
        {"x0": "float32[2,3]", "w0": "float32[4,3]"},
        [("v0", "relu", "x0"), ("v1", "linear", "v0 w0"), ("v2", "neg", "v1"), ("v3", "add", "v2 v1")],
        "v3",
    )
    *_, piece = pieces(graph.nodes, graph.types, {"w0": Role.PARAM}, 2, "torch")
    assert piece.graph == graph_of({"x0": "float32[2,4]"}, [("v0", "neg", "x0"), ("v1", "add", "v0 x0")], "v1")
    assert piece.origins == {"x0": "v1"}


def test_what_is_not_connected_is_apart_and_every_node_is_somewhere() -> None:
    graph = graph_of(
        {"x0": "float32[2]", "x1": "float32[3]"},
        [("v0", "relu", "x0"), ("v1", "neg", "x1"), ("v2", "abs", "v0"), ("v3", "exp", "v1")],
        "v2 v3",
    )
    assert [piece.graph.ops for piece in pieces(graph.nodes, graph.types, {}, 20, "torch")] == [
        ("relu", "abs"),
        ("neg", "exp"),
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 8, 20])
@pytest.mark.parametrize("count", [1, 2, 7, 21, 40])
def test_every_node_is_in_a_piece_and_none_is_too_long(size: int, count: int) -> None:
    graph = chain(count)
    found = list(pieces(graph.nodes, graph.types, {}, size, "torch"))
    assert max(len(piece.graph.nodes) for piece in found) <= size
    starts = {piece.origins["x0"] for piece in found}
    covered = {"x0" if name == "x0" else int(name[1:]) + 1 for name in starts}
    assert len(covered) == len(found)
    assert sum(len(piece.graph.nodes) for piece in found) >= count
    for piece in found:
        check(draw_case(NumpySource(0), piece.graph, {}))


# --- small sizes


def test_channels_and_images_shrink_together() -> None:
    graph = graph_of(
        {"w0": "float32[128,64,3,3]", "w1": "float32[128]", "x0": "float32[1,64,56,56]"},
        [("v0", "conv2d", "x0 w0 w1", {"padding": (1, 1), "stride": 2}), ("v1", "relu", "v0")],
        "v1",
    )
    small = shrunk(graph)
    assert typed(small) == [
        "float32[4,6,3,3]",
        "float32[4]",
        "float32[1,6,8,8]",
        "float32[1,4,4,4]",
        "float32[1,4,4,4]",
    ]


def test_heads_stay_parts_of_the_width() -> None:
    graph = graph_of(
        {"x0": "float32[2,196,768]", "w0": "float32[2304,768]"},
        [
            ("v0", "linear", "x0 w0"),
            ("v1 v2 v3", "chunk", "v0", {"chunks": 3, "dim": -1}),
            ("v4", "view", "v1", {"size": (2, 196, 12, 64)}),
            ("v5", "transpose", "v4", {"dim0": 1, "dim1": 2}),
        ],
        "v2 v3 v5",
    )
    small = shrunk(graph)
    batch, heads, steps, width = small.output_types[-1].sizes
    assert max(batch, heads, steps, width) <= 8
    assert small.types["x0"].sizes[:2] == (2, steps)
    assert small.types["w0"].sizes == (3 * heads * width, small.types["x0"].sizes[2])


def test_what_is_concatenated_is_still_the_sum() -> None:
    graph = graph_of(
        {"x0": "float32[1,32,64,64]", "x1": "float32[1,96,64,64]", "w0": "float32[64,128,1,1]"},
        [("v0", "cat", "x0 x1", {"dim": 1}), ("v1", "conv2d", "v0 w0")],
        "v1",
    )
    small = shrunk(graph)
    first, second, weight = (small.types[name].sizes[1] for name in ("x0", "x1", "w0"))
    assert first + second == weight <= 16
    assert first != second


def test_groups_are_sizes_and_kernels_are_not() -> None:
    graph = graph_of(
        {"x0": "float32[1,64,32,32]", "w0": "float32[64,1,3,3]"},
        [("v0", "conv2d", "x0 w0", {"groups": 64, "padding": (1, 1)}), ("v1", "group_norm", "v0", {"num_groups": 32})],
        "v1",
    )
    small = shrunk(graph)
    channels = small.types["x0"].sizes[1]
    assert channels <= 8
    assert small.nodes[0].attrs["groups"] == channels
    assert small.types["w0"].sizes == (channels, 1, 3, 3)


def test_a_flattened_image_shrinks_with_the_layer_behind_it() -> None:
    graph = graph_of(
        {"x0": "float32[1,512,14,14]", "w0": "float32[4096,25088]"},
        [
            ("v0", "max_pool2d", "x0", {"kernel_size": 2}),
            ("v1", "flatten", "v0", {"start_dim": 1}),
            ("v2", "linear", "v1 w0"),
        ],
        "v2",
    )
    assert max(value.type.numel for value in shrunk(graph).values()) < 1000


def test_what_stays_large_is_no_case() -> None:
    graph = graph_of({"x0": "float32[8]"}, [("v0", "repeat", "x0", {"repeats": (8,) * 6})], "v0")
    with pytest.raises(TooLarge, match="stays as large as that"):
        shrunk(graph)


def test_equal_structures_differ_in_sizes_alone() -> None:
    def conv(channels: int, kernel: int, stride: int = 1) -> Graph:
        inputs = {"x0": f"float32[1,{channels},32,32]", "w0": f"float32[{channels},{channels},{kernel},{kernel}]"}
        return graph_of(inputs, [("v0", "conv2d", "x0 w0", {"stride": stride})], "v0")

    assert structure(conv(64, 3)) == structure(conv(128, 3))
    assert structure(conv(64, 3)) != structure(conv(64, 1))
    assert structure(conv(64, 3)) != structure(conv(64, 3, 2))


# --- numbers


def test_what_rows_are_defined_for() -> None:
    graph = graph_of(
        {"x0": "float32[2]", "x1": "float32[2]", "x2": "float32[2]"},
        [("v0", "log", "x0"), ("v1", "div", "v0 x1"), ("v2", "add", "v1 x2")],
        "v2",
    )
    assert domains(graph) == [POSITIVE, NONZERO, ANY]


def test_indices_are_positions_of_what_they_index_also_behind_a_view() -> None:
    graph = graph_of(
        {"x0": "int64[2,3]", "w0": "float32[10,4]", "x1": "float32[2,3,4]", "x2": "int64[2,2,4]", "x3": "int64[2]"},
        [
            ("v0", "view", "x0", {"size": (6,)}),
            ("v1", "embedding", "v0 w0"),
            ("v2", "gather", "x1 x2", {"dim": 1}),
            ("v3", "index_copy", "x1 x3 v2", {"dim": 1}),
        ],
        "v1 v3",
    )
    assert domains(graph) == [within(0, 9), ANY, ANY, within(0, 2), distinct(0, 2, 0)]


def test_a_variance_is_positive() -> None:
    graph = graph_of(
        {"x0": "float32[1,3,4,4]", "b0": "float32[3]", "b1": "float32[3]"}, [("v0", "batch_norm", "x0 b0 b1")], "v0"
    )
    assert domains(graph) == [ANY, ANY, POSITIVE]


def test_the_models_own_integers_are_cropped_and_kept_within() -> None:
    graph = graph_of({"b0": "int64[3]", "w0": "float32[10,4]"}, [("v0", "embedding", "b0 w0")], "v0")
    case = draw_case(NumpySource(0), graph, {"b0": np.array([3, 400, 0, 5], np.int64)})
    assert case.tensors["b0"].tolist() == [3, 9, 0]
    assert case.graph.inputs[0].value.type == TensorType.parse("int64[3]")
    check(case)


def test_halves_of_a_piece_know_where_its_inputs_come_from() -> None:
    graph = graph_of(
        {"x7": "float32[2,3]", "w7": "float32[4,3]"},
        [("v5", "linear", "x7 w7"), ("v6", "neg", "v5"), ("v8", "abs", "v6"), ("v9", "relu", "v8")],
        "v9",
    )
    (piece,) = pieces(graph.nodes, graph.types, {"w7": Role.PARAM}, 20, "torch")
    assert piece.origins == {"x0": "x7", "w0": "w7"}
    found = list(halves(piece))
    assert [part.graph.ops for part in found] == [("linear", "neg"), ("neg", "abs"), ("abs", "relu")]
    assert found[0].origins == {"x0": "x7", "w0": "w7"}
    (whole,) = pieces(graph.nodes[:1], graph.types, {}, 20, "torch")
    assert list(halves(whole)) == []
