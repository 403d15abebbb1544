"""The part of `repro.py` that does what a lane in Relay did, as `fuzzer.lanes.relay` does it."""

from __future__ import annotations

from oracles.lane import Execution, Importer, LaneSpec, Params
from oracles.transforms import NAMED as TRANSFORMS

NEEDS = (
    "Needs a TVM that has Relay (before 0.20): `fuzz toolchain add relay` installs 0.17,\n"
    "`fuzz toolchain python relay repro.py` runs this in it."
)

_FROM_TRACE = """
    traced = torch.jit.trace(model, inputs, check_trace=False)
    types = [(name, (x.shape, str(x.dtype).removeprefix("torch."))) for name, x in zip(names, inputs)]
    mod, params = relay.frontend.from_pytorch(traced, types)
"""
_FROM_ONNX = """
    file = io.BytesIO()
    torch.onnx.export(model, inputs, file, @EXPORTER@, input_names=names)
    mod, params = relay.frontend.from_onnx(onnx.load_from_string(file.getvalue()), freeze_params=@FREEZE@)
"""
_BIND = """
    mod["main"] = bind_params_by_name(mod["main"], params)
    params = {}
"""
_ARGUMENTS = """
    taken = [param.name_hint for param in mod["main"].params]
    args = {name: x.numpy() for name, x in zip(names, inputs) if name in taken}
    os.environ["TOPHUB_LOCATION"] = "NONE"  # nothing is downloaded
"""
_LIBRARY = """
    path = os.path.join(tempfile.mkdtemp(), "model.so")
    lib.export_library(path)
    lib = tvm.runtime.load_module(path)
"""
_RUN_GRAPH = """
    executor = GraphModule(lib["default"](tvm.cpu()))
    known = executor.get_input_info()[0]
    for name, array in args.items():
        if name in known:
            executor.set_input(name, array)
    executor.run()
    return [executor.get_output(index).numpy() for index in range(executor.get_num_outputs())]
"""
_RUN_VM = """
    out = VirtualMachine(lib, tvm.cpu()).run(*(tvm.nd.array(args[name]) for name in taken if name in args))
    return [out.numpy()] if hasattr(out, "numpy") else [x.numpy() for x in out]
"""


def function(name: str, lane: LaneSpec, first: str = "", last: str = "") -> str:
    """`name()` gives the outputs as numpy arrays; with `last`, what that line returns once the library is there, and
    `first` stands before the build."""
    body = _imported(lane) + _ARGUMENTS + (f"    {first}\n" if first else "")
    body += "\n".join(_build(lane)) + "\n"
    body += _LIBRARY if lane.as_library or "path" in last else ""
    body += f"    {last}" if last else _RUN_VM if lane.executor is Execution.VM else _RUN_GRAPH
    return f"def {name}():\n" + "\n".join(line for line in body.split("\n") if line.strip())


def _imported(lane: LaneSpec) -> str:
    if lane.importer is Importer.TRACE:
        text = _FROM_TRACE
    else:
        exporter = "dynamo=False" + (f", opset_version={lane.opset}" if lane.opset else "")
        text = _FROM_ONNX.replace("@EXPORTER@", exporter).replace("@FREEZE@", str(lane.params is Params.BOUND))
    return text + (_BIND if lane.params is Params.REBOUND else "")


def _build(lane: LaneSpec) -> list[str]:
    disabled = f", disabled_pass={list(lane.disabled)!r}".replace("'", '"') if lane.disabled else ""
    asserts = "" if lane.asserts else ', config={"tir.disable_assert": True}'
    build = "relay.vm.compile" if lane.executor is Execution.VM else "relay.build"
    return [
        f"    with tvm.transform.PassContext(opt_level={lane.opt_level}{disabled}{asserts}):",
        *(f"        mod = {TRANSFORMS[name].source}" for name in lane.passes),
        f'        lib = {build}(mod, target="{lane.target}", params=params)',
    ]
