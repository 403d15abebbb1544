"""The part of `repro.py` that does with TVM what failed: import, passes, compilation, run. No further than it got."""

from __future__ import annotations

from fuzzer.lanes import EVERY_ROAD
from fuzzer.onnx_model import OnnxModel
from fuzzer.report import repro_gradient, repro_import, repro_relay, repro_target
from generators.graph import Case
from oracles.finding import Excess, Finding, Kind, Mismatch, Quantity, SideEffect
from oracles.lane import (
    CONSUMING,
    DEFAULT_OPT_LEVEL,
    Engine,
    Execution,
    Importer,
    LaneSpec,
    Params,
    Pipeline,
    gives_gradients,
    speaks_relay,
)
from oracles.outcome import FAILURES, IllFormed, Mutant, Stage
from oracles.targets import NAMED as TARGETS
from oracles.transforms import NAMED as TRANSFORMS
from oracles.transforms import ROUND_TRIPS

IMPORT = "import"
"""The name of the step after which an imported module is looked at."""

RUN_TVM = "run_tvm"
RUN_PLAIN = "run_plain"
"""What the script's functions are called: what fails, and what it is held against."""

_EXPORT_ONLY = """
    torch.onnx.export(model, inputs, io.BytesIO(), @EXPORTER@, input_names=names)
"""
_ONNXRUNTIME = """
    session = onnxruntime.InferenceSession(onnx_model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {item.name: feeds[item.name].numpy() for item in session.get_inputs()})
"""
_EXPORTED = """
    program = torch.export.export(model, inputs)@DECOMPOSED@
    return [output.numpy() for output in program.module()(*inputs)]
"""
_DYNAMO = """
    @tvm.transform.module_pass(opt_level=0)
    def passes(mod, _):
        with tvm.target.Target("llvm"):
@PASSES@
        return mod
@EMPTY@
    compiled = torch.compile(model, backend=relax_dynamo(passes), dynamic=False)
    try:
        return [output.numpy() for output in compiled(*inputs)]
    except torch._dynamo.exc.BackendCompilerFailed as error:
        raise error.inner_exception
"""
_LIBRARY = """
    path = os.path.join(tempfile.mkdtemp(), "model.so")
    executable.export_library(path@OPTIONS@)
    executable = tvm.runtime.load_module(path)
"""
_LOAD = """
    relax.VirtualMachine(executable, tvm.cpu())
"""
_RUN = """
    vm = relax.VirtualMachine(executable, tvm.cpu())
    out = vm["main"](*(@ARGUMENTS@)@PARAMS@)
    return [out.numpy()] if hasattr(out, "numpy") else [x.numpy() for x in out]
"""
_RUN_OFTEN = """
    vm = relax.VirtualMachine(executable, tvm.cpu())
    runs = []
    for _ in range(3):
        out = vm["main"](*(@ARGUMENTS@)@PARAMS@)
        runs.append([out.numpy()] if hasattr(out, "numpy") else [x.numpy() for x in out])
    return runs
"""
_RUN_WATCHED = """
    vm = relax.VirtualMachine(executable, tvm.cpu())
    tensors = [@ARGUMENTS@]
    before = [tensor.numpy().tobytes() for tensor in tensors]
    out = @CALL@
    outputs = [out] if hasattr(out, "numpy") else list(out)
    changed = [i for i, tensor in enumerate(tensors) if tensor.numpy().tobytes() != before[i]]
    own = [tensor.data_ptr() for tensor in tensors if tensor.numpy().nbytes]
    shared = [i for i, x in enumerate(outputs) if x.numpy().nbytes and x.data_ptr() in own]
    return changed, shared
"""
_PARAMS = {
    Params.INPUTS: ", *params",
    Params.BUNDLED: ", tuple(params)",
    Params.LIFTED: ', *vm["main_transform_params"](params)',
    Params.LIFTED_CONSUMING: ', *vm["main_transform_params"](params)',
    Params.LIFTED_SHARED: ', *vm["transform_params"](params)',
}
"""What main takes after the model's inputs."""
_BEFORE_PASSES = {
    Params.REBOUND: [
        'own = mod["main"].params[-len(params) :]',
        'mod = relax.transform.BindParams("main", dict(zip(own, params)))(mod)',
    ],
    Params.BUNDLED: ["mod = relax.transform.BundleModelParams()(mod)"],
    Params.LIFTED: ["mod = relax.transform.LiftTransformParams()(mod)"],
    Params.LIFTED_CONSUMING: ["mod = relax.transform.LiftTransformParams()(mod)"],
    Params.LIFTED_SHARED: ["mod = relax.transform.LiftTransformParams(shared_transform=True)(mod)"],
}
_CHECKER = """
broken = []


def check(mod):
    try:
        relax.analysis.well_formed(mod)
    except Exception as error:
        broken.append(f"{type(error).__name__}: {error}")
"""
_AFTER_EACH_PASS = """
@tvm.ir.instrument.pass_instrument
class Checker:
    def run_after_pass(self, mod, info):
        if info.name == "@AFTER@":
            check(mod)
"""
_MUTANT = """
def broken_module():
@IMPORT@
    document = json.loads(tvm.ir.save_json(mod))
    for number, node in @EDITS@:
        document["nodes"][number : number + 1] = [node]
    return tvm.ir.load_json(json.dumps(document))
"""
_MEASURES = {
    Quantity.LIBRARY: ("", "return os.path.getsize(path)"),
    Quantity.TIME: ("began = time.process_time()", "return time.process_time() - began"),
    Quantity.MEMORY: (
        'open("/proc/self/clear_refs", "w").write("5")  # proc(5): the peak starts anew\n    began = peak_bytes()',
        "return peak_bytes() - began",
    ),
    Quantity.CONSTANTS: ("", "return constant_bytes(mod)"),
}
_PEAK = """
def peak_bytes():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
"""
_CONSTANTS = """
def constant_bytes(mod):
    sizes = {}

    def look(expr):
        if isinstance(getattr(expr, "value", None), tvm.runtime.Tensor):
            sizes[expr.value.data_ptr()] = expr.value.numpy().nbytes

    for function in mod.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, look)
    return sum(sizes.values())
"""


def functions(case: Case, finding: Finding, file: OnnxModel | None = None) -> list[str]:
    """`run_tvm()`, and what it needs. It gives the outputs as numpy arrays, or what the evidence is about, or nothing
    where it fails before. With `file`, `model` and `inputs` are that ONNX model and what it takes."""
    texts = [repro_target.placed(text, finding) for text in _Script(case, finding, file is not None).functions()]
    helpers = dict.fromkeys(TRANSFORMS[name].helper for name in finding.lane.passes if TRANSFORMS[name].helper)
    return [*helpers, *repro_target.blocks(finding), *texts]


def beside(finding: Finding) -> bool:
    """Whether the script holds the lane against another of TVM's, bit for bit."""
    evidence = finding.evidence
    if not isinstance(evidence, Mismatch) or _lane_named(evidence.against) is None:
        return False
    return evidence.worst is None or evidence.worst.truth is None


def runs_often(finding: Finding) -> bool:
    """Whether `run_tvm()` gives the results of several runs of one program."""
    lane = finding.lane
    plain = not (speaks_relay(lane) or gives_gradients(lane) or lane.importer is Importer.DYNAMO)
    return finding.kind is Kind.UNSTABLE and lane.engine is Engine.TVM and plain


def _lane_named(name: str) -> LaneSpec | None:
    return next((lane for lane in EVERY_ROAD if lane.name == name), None)


class _Script:
    """`built`: the script builds its ONNX file itself."""

    def __init__(self, case: Case, finding: Finding, built: bool) -> None:
        self.case, self.finding, self.built = case, finding, built

    def functions(self) -> list[str]:
        finding, lane = self.finding, self.finding.lane
        if speaks_relay(lane):
            return _in_relay(finding)
        end = repro_target.ending(finding)
        match finding.evidence:
            case IllFormed(after=after):
                looking = [_AFTER_EACH_PASS.replace("@AFTER@", after)] if _by_instrument(after) else []
                return [_CHECKER, *looking, self._function(RUN_TVM, lane, check_after=after, run=end)]
            case Mutant(legalised=legalised, edits=edits):
                mod = repro_import.FROM_EXPORT.replace("@KEEP@", "").strip("\n")
                mod += "\n    mod = relax.transform.LegalizeOps()(mod)" if legalised else ""
                broken = _MUTANT.replace("@IMPORT@", mod).replace("@EDITS@", _python(edits))
                return [broken, _named(RUN_TVM, "    mod = broken_module()" + _rest(lane, self._run(lane)))]
            case Excess(quantity=quantity):
                helper = {Quantity.CONSTANTS: _CONSTANTS, Quantity.MEMORY: _PEAK}.get(quantity)
                return [*([helper] if helper else []), self._measured(quantity)]
            case SideEffect():
                return [self._function(RUN_TVM, lane, run=self._watched())]
            case Mismatch(against=against) if (plain := _lane_named(against)) and beside(finding):
                return [self._function(RUN_TVM, lane), self._function(RUN_PLAIN, plain)]
            case _:
                return [self._function(RUN_TVM, lane, run=end)]

    def _function(self, name: str, lane: LaneSpec, check_after: str = "", run: str = "") -> str:
        until = _until(self.finding)
        if lane.importer.is_onnx and until is Stage.EXPORT:
            return _named(name, _EXPORT_ONLY.replace("@EXPORTER@", repro_import.exporter(lane)))
        if lane.engine is Engine.ONNXRUNTIME:
            return _named(name, repro_import.onnx_file(lane) + _ONNXRUNTIME)
        if lane.engine is Engine.TORCH and lane.importer.is_exported:
            raw = lane.importer is Importer.EXPORT_RAW
            return _named(name, _EXPORTED.replace("@DECOMPOSED@", "" if raw else ".run_decompositions()"))
        if lane.importer is Importer.DYNAMO:
            return _named(name, _dynamo(lane, check_after))
        body = self._imported(lane)
        if check_after == IMPORT:
            return _named(name, body + "    check(mod)\n")
        match until:
            case Stage.IMPORT:
                return _named(name, body)
            case Stage.TRANSFORM:
                return _named(name, body + _compiled(lane, check_after, compiles=False))
            case Stage.COMPILE:
                return _named(name, body + _compiled(lane, check_after))
            case Stage.LOAD:
                return _named(name, body + _rest(lane, run or _LOAD, check_after))
            case _:
                return _named(name, body + _rest(lane, run or self._run(lane), check_after))

    def _imported(self, lane: LaneSpec) -> str:
        return repro_import.imported(self.case, lane, built=self.built)

    def _run(self, lane: LaneSpec) -> str:
        if gives_gradients(lane):
            return repro_gradient.RUN
        text = _RUN_OFTEN if runs_often(self.finding) else _RUN
        arguments = repro_import.arguments(lane, built=self.built)
        text = text.replace("@ARGUMENTS@", arguments).replace("@PARAMS@", _PARAMS.get(lane.params, ""))
        if self.finding.kind in (Kind.WRONG_ARITY, Kind.UNSTABLE):
            return text
        plain, several = text.split("return ")[1].strip().split(' if hasattr(out, "numpy") else ')
        one = lane.importer.is_onnx and len(self.case.graph.outputs) == 1
        return text.split("return ")[0] + f"return {plain if one else several}\n"

    def _watched(self) -> str:
        lane = self.finding.lane
        call = f'vm["main"](*tensors{_PARAMS.get(lane.params, "")})'
        if gives_gradients(lane):
            call = 'list(vm["main_adjoint"](*tensors)[1])'
        arguments = repro_import.arguments(lane, built=self.built)
        return _RUN_WATCHED.replace("@CALL@", call).replace("@ARGUMENTS@", arguments)

    def _measured(self, quantity: Quantity) -> str:
        lane = self.finding.lane
        first, last = _MEASURES[quantity]
        body = self._imported(lane) + f"    {first}\n"
        if quantity is Quantity.CONSTANTS:
            lines = "\n".join(f"    {line}" for line in _transforms(lane, ""))
            return _named(RUN_TVM, f"{body}{lines}\n    {last}")
        unloaded = quantity is Quantity.LIBRARY or TARGETS[lane.target].written
        return _named(RUN_TVM, body + _rest(lane, f"{'' if unloaded else _LOAD}\n    {last}"))


def _until(finding: Finding) -> Stage:
    """How far the script goes: where the failure came, that step is the last."""
    if isinstance(finding.evidence, FAILURES):
        return finding.stage
    return Stage.COMPILE if isinstance(finding.evidence, IllFormed) else Stage.RUN


def _in_relay(finding: Finding) -> list[str]:
    match finding.evidence:
        case Excess(quantity=quantity):
            return [repro_relay.function(RUN_TVM, finding.lane, *_MEASURES[quantity])]
        case Mismatch(against=against) if (plain := _lane_named(against)) and beside(finding):
            return [repro_relay.function(RUN_TVM, finding.lane), repro_relay.function(RUN_PLAIN, plain)]
        case _:
            return [repro_relay.function(RUN_TVM, finding.lane)]


def _python(json: str) -> str:
    """What JSON and Python write alike, but for three words."""
    for word, other in (("null", "None"), ("true", "True"), ("false", "False")):
        json = json.replace(f": {word}", f": {other}")
    return json


def _named(name: str, body: str) -> str:
    lines = "\n".join(line for line in body.split("\n") if line.strip())
    return f"def {name}():\n" + lines.replace("@EMPTY@", "")


def _dynamo(lane: LaneSpec, check_after: str) -> str:
    lines = _transforms(lane, check_after)
    if lane.pipeline is not Pipeline.DEFAULT:
        lines.append(f'mod = relax.get_pipeline("{lane.pipeline}")(mod)')
    passes = "\n".join(f"            {line}" for line in lines or ["pass"])
    body = _DYNAMO.replace("@PASSES@", passes)
    if context := _context(lane, check_after):
        call = "        return [output.numpy() for"
        body = body.replace(call, f"        with tvm.transform.PassContext({', '.join(context)}):\n    {call}")
    return body


def _rest(lane: LaneSpec, run: str, check_after: str = "") -> str:
    """From the imported module to the end of the function."""
    text = _compiled(lane, check_after)
    row = TARGETS[lane.target]
    if row.compilers or lane.as_library or "path" in run:
        options = f', cc="{row.compilers[0]}", options={list(row.flags)!r}'.replace("'", '"') if row.compilers else ""
        text += _LIBRARY.replace("@OPTIONS@", options)
    return f"\n{text}{run}"


def _compiled(lane: LaneSpec, check_after: str, *, compiles: bool = True) -> str:
    """Passes and compilation; without the latter where a pass is what fails."""
    lines = _transforms(lane, check_after)
    if compiles and lane.pipeline is Pipeline.ZERO:
        lines.append('mod = relax.get_pipeline("zero")(mod)')
    if lane.passes or lane.pipeline is not Pipeline.DEFAULT or not _is_plain(lane.target):
        inside = [*lines, *([_compile(lane, "target")] if compiles else [])]
        named = " as target" if any("target" in line for line in inside) else ""
        lines = [f"with {_target(lane)}{named}:", *("    " + line for line in inside)]
    elif compiles:
        lines.append(_compile(lane, f'"{lane.target}"'))
    if context := _context(lane, check_after):
        lines = [f"with tvm.transform.PassContext({', '.join(context)}):", *("    " + line for line in lines)]
    return "\n" + "".join(f"    {line}\n" for line in lines)


def _compile(lane: LaneSpec, target: str) -> str:
    whole = ", relax_pipeline=relax.backend.cpu_generic.get_default_pipeline(target)"
    more = whole if lane.pipeline is Pipeline.CPU else ""
    if lane.executor is Execution.COMPILED:
        return f'executable = relax.build(mod, {target}{more}, exec_mode="compiled")'
    return f"executable = tvm.compile(mod, {target}{more})"


def _context(lane: LaneSpec, check_after: str) -> list[str]:
    """The arguments of PassContext that are not its defaults."""
    options = [*lane.options, *([] if lane.asserts else ["tirx.disable_assert"])]
    options += [CONSUMING] if lane.params is Params.LIFTED_CONSUMING else []
    context = [f"opt_level={lane.opt_level}"] if lane.opt_level != DEFAULT_OPT_LEVEL else []
    context += [f"config={dict.fromkeys(options, True)!r}".replace("'", '"')] if options else []
    context += [f"disabled_pass={list(lane.disabled)!r}".replace("'", '"')] if lane.disabled else []
    return context + (["instruments=[Checker()]"] if _by_instrument(check_after) else [])


def _by_instrument(check_after: str) -> bool:
    """Whether it is a pass of TVM's that the module is looked at after."""
    return check_after not in ("", IMPORT, *ROUND_TRIPS)


def _transforms(lane: LaneSpec, check_after: str) -> list[str]:
    lines = list(_BEFORE_PASSES.get(lane.params, []))
    for name in lane.passes:
        lines.append(f"mod = {TRANSFORMS[name].source}")
        if name == check_after and name in ROUND_TRIPS:
            lines.append("check(mod)")
    return lines


def _target(lane: LaneSpec) -> str:
    config = dict(TARGETS[lane.target].config)
    plain = _is_plain(lane.target)
    return f'tvm.target.Target("{lane.target}")' if plain else f"tvm.target.Target({config!r})".replace("'", '"')


def _is_plain(target: str) -> bool:
    """Whether its name is all that TVM needs."""
    return dict(TARGETS[target].config) == {"kind": target}
