"""Changes of TVM that rules make of its own tables: 60 for the worse and 12 without effect.

A rule takes entries of the table that `fuzz diff` asks a toolchain for, in the order of a digest of their names, so
that nobody chooses them: 20 converters of both dialects, 15 legalizations, 15 passes and pipelines, 10 rules of
schedules. Each gets a wrapper that changes its result: 1 is added, or truth values are negated. One of three does so
under one of `CONDITIONS` only.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import cycle
from textwrap import dedent

from changes_of_tvm.forms import HEAD
from changes_of_tvm.table import Change, Part
from fuzzer.difference.touched_rows import rows_of_converter
from fuzzer.toolchains.code_entries import CodeTable, Entry, Kind

CONDITIONS = (
    # a name, and a Python expression of the shape: a tuple of sizes, 0 for one that is open; and of the dtype
    ("a-tail-of-8", "len(shape) > 0 and shape[-1] % 8 == 5"),
    ("a-rank", "len(shape) >= 5"),
    ("two-sizes", "len(shape) >= 2 and shape[0] == 1 and shape[-1] > 1"),
    ("a-threshold", "len(shape) > 0 and max(shape) > 48"),
    ("a-dtype", 'dtype in ("int64", "float64")'),
    ("a-scalar", "len(shape) == 0 or (len(shape) == 1 and shape[0] == 3)"),
)

_NO_TENSOR = re.compile(
    r"split|chunk|unbind|topk|sort|getitem|size|assert|item|dropout|cond|while|If|Loop|Sequence|Optional|Shape|bernoulli"
    r"|rand|empty|copy|alias|dict|tuple|list|Constant|Unique|NonZero|nonzero|Cast|exponential|max_pool.*indices|DynamicQuantize"
)
"""Converters whose result is no tensor, or is not compared."""

_HELPERS = '''
def sizes(ty):
    shape = getattr(getattr(ty, "shape", None), "values", None) or getattr(ty, "shape", None) or ()
    return tuple(int(each) if isinstance(each, (int, tirx.IntImm)) else 0 for each in shape)


def other(builder, result):
    """Another value of the same type, where the condition holds."""
    ty = result.ty if hasattr(result, "ty") and result.ty is not None else None
    if not isinstance(ty, relax.TensorType) or ty.ndim < 0 or not str(ty.dtype):
        return result
    if changes(sizes(ty), str(ty.dtype)):
        if str(ty.dtype) == "bool":
            return builder.emit(relax.op.logical_not(result))
        return builder.emit(relax.op.add(result, relax.const(1, str(ty.dtype))))
    return result
'''

_KERNELS = """
import tvm_ffi


def changed(module):
    module = module.clone()
    for var, kernel in list(module.functions.items()):
        if isinstance(kernel, tirx.PrimFunc):
            module[var] = with_other_stores(kernel)
    return module


def with_other_stores(kernel):
    def store(stmt):
        shape = tuple(int(each) if isinstance(each, tirx.IntImm) else 0 for each in stmt.buffer.shape)
        dtype = str(stmt.value.ty.dtype)
        if dtype not in ("float32", "float64", "int32", "int64") or not changes(shape, dtype):
            return stmt
        value = stmt.value + tirx.const(1, dtype)
        return tirx.BufferStore(stmt.buffer, value, stmt.indices)

    return tvm_ffi.structural_map(kernel, [(tirx.BufferStore, store)])
"""


def planted(table: CodeTable) -> tuple[Change, ...]:
    """The changes for the worse, then those without effect."""
    kinds = (
        (Part.FRONTEND, 20, _frontends(table), 4),
        (Part.LEGALIZATION, 15, _legalizations(table), 3),
        (Part.PASS, 15, _passes(table), 3),
        (Part.SCHEDULE, 10, _schedules(table), 2),
    )
    worse, harmless, number, rare = [], [], 0, cycle(CONDITIONS)
    for part, count, writers, without in kinds:
        makers = list(writers)
        for place in range(count):
            name, write = makers[place % len(makers)]
            number += 1
            condition = next(rare) if number % 3 == 0 or place >= len(makers) else None
            title = f"{name}-{condition[0]}" if condition else name
            test = condition[1] if condition else "True"
            worse.append(Change(title, part, _file(test, write), rare=condition is not None))
        for name, write in makers[count : count + without] or makers[:without]:
            harmless.append(Change(f"{name}-unchanged", part, _file("False", write), harmless=True))
    return (*worse, *harmless)


Writer = tuple[str, str]
"""A name, and the text of a file without the function `changes`."""


def _file(condition: str, text: str) -> str:
    function = f"def changes(shape, dtype):\n    if {condition}:\n        return True\n    return False\n"
    return f"{HEAD}\n\n{function}\n{text.strip()}\n"


def _ordered(entries: Sequence[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: hashlib.sha256(entry.name.encode()).digest())


def _of(table: CodeTable, kind: Kind) -> list[Entry]:
    return _ordered([entry for entry in table.entries if entry.kind is kind])


def _frontends(table: CodeTable) -> Iterator[Writer]:
    """Converters of the three importers in turn, of those that have rows and make an operator of Relax."""
    found: dict[str, list[Entry]] = {"export": [], "onnx": [], "fx": []}
    for entry in _of(table, Kind.CONVERTER):
        if entry.operators and not _NO_TENSOR.search(entry.name) and rows_of_converter(entry.name):
            found[entry.name.partition(" ")[0]].append(entry)
    for entry in (each for some in zip(*found.values(), strict=False) for each in some):
        importer, _, key = entry.name.partition(" ")
        yield _identifier(entry.name), _HELPERS + (_of_onnx(key) if importer == "onnx" else _of_torch(importer, key))


def _of_torch(importer: str, key: str) -> str:
    module, owner = {
        "export": ("exported_program_translator", "ExportedProgramImporter"),
        "fx": ("fx_translator", "TorchFXImporter"),
    }[importer]
    layer = f'next(each for each in found if getattr(each, "__name__", "") == "{key[3:]}")'
    name = layer if key.startswith("nn.") else repr(key)
    return dedent(
        f"""
        from tvm.relax.frontend.torch.{module} import {owner} as Importer

        honest = Importer.create_convert_map


        def create_convert_map(self):
            found = honest(self)
            key = {name}
            convert = found[key]
            found[key] = lambda node: other(self.block_builder, convert(node))
            return found


        Importer.create_convert_map = create_convert_map
        """
    )


def _of_onnx(key: str) -> str:
    name, _, version = key.partition(" ")
    return dedent(
        f"""
        from tvm.relax.frontend.onnx import onnx_frontend

        owner = onnx_frontend._get_convert_map()["{name}"]
        honest = owner._impl_v{version}


        def convert(cls, bb, inputs, attr, params):
            result = honest(bb, inputs, attr, params)
            return other(bb, bb.normalize(result)) if isinstance(result, relax.Expr) else result


        owner._impl_v{version} = classmethod(convert)
        """
    )


_EFFECT = (
    "dropout",
    "empty",
    "assert",
    "print",
    "ccl",
    "inspect",
    "shape_to_tensor",
    "call_",
    "dist.",
    "random",
    "memory",
)


def _legalizations(table: CodeTable) -> Iterator[Writer]:
    made = {operator for entry in table.entries if entry.kind is Kind.CONVERTER for operator in entry.operators}
    for entry in _of(table, Kind.LEGALIZATION):
        if entry.name in made and not any(word in entry.name for word in _EFFECT) and "split" not in entry.name:
            yield (
                _identifier(entry.name),
                _HELPERS
                + dedent(
                    f"""
                honest = tvm.ir.Op.get("{entry.name}").get_attr("FLegalize")


                def legalize(builder, call):
                    result = honest(builder, call)
                    if result.same_as(call) or not isinstance(call.ty, relax.TensorType):
                        return result
                    if not changes(sizes(call.ty), str(call.ty.dtype)):
                        return result
                    result = builder.emit(result)
                    if str(call.ty.dtype) == "bool":
                        return builder.call_te(topi.logical_not, result)
                    return builder.call_te(topi.add, result, relax.const(1, str(call.ty.dtype)))


                tvm.ir.register_op_attr("{entry.name}", "FLegalize", legalize, level=15)
                """
                ),
            )


KERNEL_PASSES = (
    "relax.transform.LegalizeOps",
    "relax.transform.FuseTIR",
    "relax.transform.AnnotateTIROpPattern",
    "relax.transform.CallTIRRewrite",
    "relax.transform.StaticPlanBlockMemory",
    "relax.transform.FoldConstant",
    "relax.transform.RewriteDataflowReshape",
    "relax.transform.DecomposeOpsForInference",
    "tirx.transform.StmtSimplify",
    "tirx.transform.RemoveNoOp",
    "tirx.transform.FlattenBuffer",
    "tirx.transform.VectorizeLoop",
    "tirx.transform.UnrollLoop",
    "tirx.transform.StorageRewrite",
    "tirx.transform.CommonSubexprElim",
    "tirx.transform.NarrowDataType",
    "s_tir.transform.CanonicalizeLoop",
    "s_tir.transform.LowerOpaqueBlock",
)
"""The passes of the pipelines of a processor after which a module has kernels, or that change these."""

PIPELINES = ("relax.pipeline.zero_pipeline", "relax.pipeline.default_build_pipeline")


def _passes(table: CodeTable) -> Iterator[Writer]:
    have = {entry.name for entry in table.entries}
    for name in (*KERNEL_PASSES, *PIPELINES):
        if name in have:
            home, _, plain = name.rpartition(".")
            yield _identifier(name), _KERNELS + _wrapped(home, plain)


def _wrapped(home: str, plain: str) -> str:
    put = f'home.PIPELINE_MAP["{plain.removesuffix("_pipeline")}"] = {plain}' if "pipeline" in home else ""
    return dedent(
        f"""
        import tvm.{home} as home

        honest = home.{plain}


        def {plain}(*args, **options):
            one = honest(*args, **options)

            def run(module, context):
                return changed(one(module))

            return tvm.transform.module_pass(run, opt_level=0, name=str(one.info.name))


        home.{plain} = {plain}
        {put}
        """
    )


def _schedules(table: CodeTable) -> Iterator[Writer]:
    for entry in (
        each for each in _of(table, Kind.SCHEDULE) if ".gpu." in each.name
    ):  # no lane has rules of processors
        home, _, plain = entry.name.rpartition(".")
        yield (
            _identifier(entry.name),
            _KERNELS
            + dedent(
                f"""
            import tvm.{home} as home
            from tvm import s_tir

            honest = home.{plain}.apply


            def one_with_other_stores(schedule):
                return s_tir.Schedule(changed(schedule.mod))


            def apply(self, *args, **options):
                made = honest(self, *args, **options)
                if made is None:
                    return None
                one = one_with_other_stores
                return [one(each) for each in made] if isinstance(made, list) else one(made)


            home.{plain}.apply = apply
            """
            ),
        )


def _identifier(name: str) -> str:
    return re.sub(r"\W+", "-", name).strip("-").lower()
