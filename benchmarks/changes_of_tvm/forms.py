"""Files that change one part of TVM, as `fuzz diff --patched-preload` takes them. Each form has the part's honest
function, a function that takes its place, and the line that puts it there."""

from __future__ import annotations

import re
from textwrap import dedent, indent

HEAD = "import tvm\nfrom tvm import relax, te, tirx, topi\n"


def converter(method: str, body: str, importer: str = "base_fx_graph_translator.BaseFXGraphImporter") -> str:
    """A method of an importer of PyTorch. `body` may call `honest`, with the same arguments."""
    module, _, owner = importer.partition(".")
    return _file(
        f"from tvm.relax.frontend.torch.{module} import {owner}\n\nhonest = {owner}.{method}\n",
        f"def {method}(self, *args, **options):",
        body,
        f"{owner}.{method} = {method}",
    )


def onnx_converter(operator: str, body: str) -> str:
    """The newest converter of an ONNX operator, with `inputs` and the attributes `attr`."""
    return _file(
        f"from tvm.relax.frontend.onnx import onnx_frontend\n\nowner = onnx_frontend.{operator}\n"
        'name = max((each for each in vars(owner) if each.startswith("_impl_v")), key=lambda each: int(each[7:]))\n'
        "honest = getattr(owner, name)\n",
        f"def {_identifier(operator)}(cls, bb, inputs, attr, params):",
        body,
        f"setattr(owner, name, classmethod({_identifier(operator)}))",
    )


def legalization(operator: str, body: str) -> str:
    """The legalization of an operator. `body` may return `honest(builder, call)`."""
    name = _identifier(operator)
    return _file(
        f'honest = tvm.ir.Op.get("{operator}").get_attr("FLegalize")\n',
        f"def {name}(builder, call):",
        body,
        f'tvm.ir.register_op_attr("{operator}", "FLegalize", {name}, level=15)',
    )


def relax_pass(name: str, body: str, first: bool = False) -> str:
    """A pass, before or after which the calls of Relax's operators are rewritten: `body` has the visited `call`."""
    mutator = dedent(
        """
        @relax.expr_functor.mutator
        class Rewriter(relax.PyExprMutator):
            def visit_call_(self, call):
                call = super().visit_call_(call)
                return rewritten(call)


        def rewrite(module):
            rewriter = Rewriter(module)
            for name, function in module.functions_items():
                if isinstance(function, relax.Function):
                    rewriter.builder_.update_func(name, rewriter.visit_expr(function))
            return rewriter.builder_.get()
        """
    )
    return _file(mutator, "def rewritten(call):", body, _wrapped(name, "rewrite", first))


def kernels_pass(name: str, body: str) -> str:
    """A pass after which the values that kernels store are changed: `body` has the `value`, the `kernel` and its
    `loops`, the extents of its loops from the outside in."""
    helpers = dedent(
        """
        import tvm_ffi


        def loops_of(kernel):
            found = []
            tvm_ffi.structural_walk(kernel.body, (tirx.For, lambda node: found.append(node.extent)), order="pre")
            return [int(each) if isinstance(each, (int, tirx.IntImm)) else 0 for each in found]


        def rewrite(module):
            module = module.clone()
            for var, kernel in list(module.functions.items()):
                if isinstance(kernel, tirx.PrimFunc):
                    loops = loops_of(kernel)

                    def store(stmt, var=var, loops=loops):
                        return tirx.BufferStore(stmt.buffer, stored(stmt.value, var.name_hint, loops), stmt.indices)

                    module[var] = tvm_ffi.structural_map(kernel, [(tirx.BufferStore, store)])
            return module
        """
    )
    return _file(helpers, "def stored(value, kernel, loops):", body, _wrapped(name, "rewrite", False))


def _wrapped(name: str, rewrite: str, first: bool) -> str:
    space, _, plain = name.rpartition(".")
    home = {"": "relax.transform", "tirx": "tirx.transform", "s_tir": "tvm.s_tir.transform"}[space]
    order = f"one({rewrite}(module))" if first else f"{rewrite}(one(module))"
    return dedent(
        f"""
        honest = {home}.{plain}


        def {plain}(*args, **options):
            one = honest(*args, **options)

            def run(module, context):
                return {order}

            return tvm.transform.module_pass(run, opt_level=0, name=str(one.info.name))


        {home}.{plain} = {plain}
        """
    ).strip()


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _file(before: str, signature: str, body: str, after: str) -> str:
    return f"{HEAD}{before}\n\n{signature}\n{indent(dedent(body).strip(), '    ')}\n\n\n{after}\n"
