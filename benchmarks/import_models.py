"""Measure how much of real architectures `fuzz import` maps, and check that each of its cases runs.

    python benchmarks/import_models.py               five models, exported by torch.export (also decomposed) and by
                                                     both ONNX exporters; two minutes
    python benchmarks/import_models.py --rows 3      three programs of each row of the operator table: which are the
                                                     same after torch.export and import; ten minutes

Models are exported in this process, and imported as the command does it.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from fuzzer.children.coverage import Subject
from fuzzer.isolate.validity import Validity
from fuzzer.lanes.base.arrays import from_torch, to_torch
from fuzzer.lanes.torch.prepared import build_model
from fuzzer.seeds import corpus
from fuzzer.seeds.imported import files_of, run
from fuzzer.seeds.torch import pt2
from fuzzer.seeds.torch.resolve import resolve
from fuzzer.system.terminal import number_of
from generators.builder import Builder
from generators.choice import NumpySource
from generators.dialect_names import DEFAULT
from generators.graph import Case, Graph, Input, Role, Value
from generators.random_graph import with_values
from generators.torch.ops import OPS
from generators.torch.source import render


class Bottleneck(nn.Module):
    def __init__(self, features: int, width: int, out: int, stride: int = 1) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(features, width, 1, bias=False), nn.BatchNorm2d(width))
        self.second = nn.Sequential(nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width))
        self.third = nn.Sequential(nn.Conv2d(width, out, 1, bias=False), nn.BatchNorm2d(out))
        same = stride == 1 and features == out
        down = nn.Sequential(nn.Conv2d(features, out, 1, stride, bias=False), nn.BatchNorm2d(out))
        self.down = nn.Identity() if same else down

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.second(F.relu(self.first(x))))
        return F.relu(self.third(y) + self.down(x))


class ResNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        stem = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        blocks = (64, 64, 256), (256, 64, 256), (256, 128, 512, 2), (512, 128, 512)
        self.body = nn.Sequential(*stem, *(Bottleneck(*sizes) for sizes in blocks))
        self.head = nn.Linear(512, 1000)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(torch.flatten(F.adaptive_avg_pool2d(self.body(x), 1), 1))


class Tagger(nn.Module):
    """An LSTM between an embedding and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(1000, 64), nn.Linear(256, 10)
        self.lstm = nn.LSTM(64, 128, 2, batch_first=True, bidirectional=True)

    def forward(self, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        steps, (hidden, _) = self.lstm(self.embedding(tokens))
        return F.log_softmax(self.head(steps[:, -1]), -1), hidden


class UNet(nn.Module):
    def __init__(self, width: int = 32) -> None:
        super().__init__()

        def block(features: int, out: int) -> nn.Sequential:
            convs = nn.Conv2d(features, out, 3, padding=1), nn.Conv2d(out, out, 3, padding=1)
            return nn.Sequential(*(part for conv in convs for part in (conv, nn.GroupNorm(8, out), nn.SiLU())))

        self.down1, self.down2, self.middle = block(3, width), block(width, 2 * width), block(2 * width, 4 * width)
        self.up2, self.up1 = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2), nn.Conv2d(2 * width, width, 3, padding=1)
        self.out2, self.out1, self.head = block(4 * width, 2 * width), block(2 * width, width), nn.Conv2d(width, 1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first = self.down1(x)
        second = self.down2(F.max_pool2d(first, 2))
        y = self.up2(self.middle(F.avg_pool2d(second, 2)))
        y = self.up1(F.interpolate(self.out2(torch.cat([y, second], 1)), scale_factor=2, mode="nearest"))
        return torch.sigmoid(self.head(self.out1(torch.cat([y, first], 1))))


class Decoder(nn.Module):
    """A block of GPT in basic operators: splits, heads, a mask."""

    def __init__(self, width: int = 192, heads: int = 6, steps: int = 32) -> None:
        super().__init__()
        self.tokens, self.places, self.heads = nn.Embedding(500, width), nn.Embedding(steps, width), heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.back = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.register_buffer("mask", torch.tril(torch.ones(steps, steps)).view(1, 1, steps, steps).bool())

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        batch, steps = tokens.shape
        x = self.tokens(tokens) + self.places(torch.arange(steps))
        parts = self.qkv(self.norm1(x)).split(x.shape[-1], 2)
        q, k, v = (part.view(batch, steps, self.heads, -1).transpose(1, 2) for part in parts)
        scores = (q @ k.transpose(-2, -1)) * (k.shape[-1] ** -0.5)
        weights = F.softmax(scores.masked_fill(~self.mask[:, :, :steps, :steps], -1e9), -1)
        x = x + self.out((weights @ v).transpose(1, 2).contiguous().view(batch, steps, -1))
        x = x + self.back(F.gelu(self.wide(self.norm2(x)), approximate="tanh"))
        return x @ self.tokens.weight.t()


def models() -> Iterator[tuple[str, nn.Module, torch.Tensor]]:
    encoder = nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True, activation="gelu", norm_first=True)
    yield "resnet", ResNet(), torch.randn(1, 3, 224, 224)
    yield "encoder", encoder, torch.randn(2, 50, 256)
    yield "lstm", Tagger(), torch.randint(0, 1000, (2, 12))
    yield "unet", UNet(), torch.randn(1, 3, 64, 64)
    yield "decoder", Decoder(), torch.randint(0, 500, (2, 32))


def export(folder: Path) -> None:
    torch.backends.mha.set_fastpath_enabled(False)
    for name, model, example in models():
        model.eval()
        with torch.no_grad():
            program = torch.export.export(model, (example,))
            torch.export.save(program, str(folder / f"{name}.pt2"))
            torch.export.save(program.run_decompositions(), str(folder / f"{name}-decomposed.pt2"))
            torch.onnx.export(model, (example,), str(folder / f"{name}-dynamo.onnx"), dynamo=True, verbose=False)
            with suppress(TypeError):  # a bug of the TorchScript exporter with is_causal of the encoder
                torch.onnx.export(model, (example,), str(folder / f"{name}-torchscript.onnx"), dynamo=False)


def measure_models() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        zoo, into = Path(scratch, "zoo"), Path(scratch, "campaign")
        zoo.mkdir()
        export(zoo)
        since = time.monotonic()
        done, refused = run(files_of(zoo), into, 20)
        seconds = time.monotonic() - since
        assert not refused, refused
        print(f"{'file':28} {'nodes':>6} {'mapped':>8} {'cases':>6} {'like another':>13} {'dropped':>8}")
        for each in done:
            found, resolved = each.extracted, each.extracted.resolved
            share = f"{100 * resolved.mapped / resolved.steps:.1f} %"
            dropped = sum(found.dropped.values())
            name = found.file if resolved.dialect == DEFAULT else f"{found.file} as {resolved.dialect}"
            print(f"{name:28} {resolved.steps:6} {share:>8} {len(found.cases):6} {found.repeated:13} {dropped:8}")
            for (title, why), count in resolved.lacking.items():
                print(f"    no row: {title} ({number_of(count, 'time')}): {why}")
        cases = corpus.cases(into)
        with Validity() as ask:
            verdicts = Counter(str(ask(case).verdict) for case in cases.values())
    largest = max(value.type.numel for case in cases.values() for value in case.graph.values())
    counted = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    print(f"{len(cases)} cases in {seconds:.0f} s, in PyTorch: {counted}; the largest tensor has {largest} elements")
    return 0


def measure_rows(count: int) -> int:
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        for op in OPS:
            for number in range(count):
                builder = Builder(NumpySource(zlib.crc32(op.name.encode()), number))
                if builder.grow(op):
                    verdict = _round_trip(with_values(builder), Path(scratch, "m.pt2"))
                    counts[verdict] += 1
                    if verdict not in ("the same", "torch.export refuses"):
                        print(f"{op.name} {number}: {verdict}", flush=True)
    print(", ".join(f"{number} {verdict}" for verdict, number in counts.most_common()))
    return 0


def _round_trip(case: Case, path: Path) -> str:
    try:
        exported = Subject(case).exported
        torch.export.save(exported, str(path))
    except Exception:
        return "torch.export refuses"
    program = pt2.read(path)
    if any(step.title.partition(".")[0].endswith("_") for step in program.steps):
        return "changes a value in place"
    resolved = resolve(program)
    signature = exported.graph_signature
    outputs = tuple(spec.arg.name for spec in signature.output_specs)
    known = {spec.arg.name for spec in signature.input_specs} | {v.name for n in resolved.nodes for v in n.results}
    read = {name for node in resolved.nodes for name in node.args}
    if resolved.lacking or not known.issuperset({*outputs, *read}):
        return "not whole"
    owned: dict[str, Any] = {**exported.state_dict, **exported.constants}
    inputs, given = [], {}
    for spec in signature.input_specs:
        name = spec.arg.name
        given[name] = to_torch(case.inputs[name]) if spec.target is None else owned[spec.target].detach()
        inputs.append(Input(Value(name, program.types[name]), Role.INPUT))
    graph = Graph(tuple(inputs), resolved.nodes, outputs)
    with torch.no_grad():
        found = build_model(render(graph), {})(*(value.clone() for value in given.values()))
        wanted = exported.module()(*(to_torch(array) for array in case.inputs.values()))
    for one, other in zip(found, wanted, strict=True):
        try:
            torch.testing.assert_close(one, other, equal_nan=True)
        except AssertionError:
            return f"another result: {from_torch(one).reshape(-1)[:3]} {from_torch(other).reshape(-1)[:3]}"
    return "the same"


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.manual_seed(0)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, metavar="N", help="instead: N programs of each row")
    rows = parser.parse_args().rows
    sys.exit(measure_rows(rows) if rows else measure_models())
