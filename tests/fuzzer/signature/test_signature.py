"""Identity of failures that are written by hand here; test_records.py has recorded ones."""

from dataclasses import replace

import pytest
from torch.onnx._internal.exporter import _core

from fuzzer.lanes import TVM_LANES
from fuzzer.lanes.target_table import TARGET_LANES
from fuzzer.signature import (
    Signature,
    classify_failure,
    compiler_that_refuses,
    error_of_compiler,
    failure_location,
    missing_features,
    plain_function,
    readable,
    signature_of,
    skeleton,
)
from fuzzer.signature.blame import Place
from oracles.finding import Component, Evidence, Excess, Finding, Kind, Mismatch, Quantity, SideEffect
from oracles.lane import Importer
from oracles.outcome import (
    Cause,
    Died,
    Frame,
    IllFormed,
    Mutant,
    MutantFate,
    Raised,
    Skipped,
    Stage,
    TimedOut,
    Unsupported,
)


def finding(evidence: Raised | Died | TimedOut | Mismatch, kind: Kind = Kind.REJECTED) -> Finding:
    return Finding(kind, Component.TVM, TVM_LANES[0], Stage.IMPORT, evidence)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x has shape (2, 3)", "x has shape (17, 1, 4)"),
        ("expected float32, got T.int64", "expected float64, got bool"),
        (
            "Type 'tensor(int8)' of input parameter (x0) of operator (Asin) in node (/Asin) is invalid.",
            "Type 'tensor(bool)' of input parameter (/Cast_1) of operator (Tan) in node (/Tan_3) is invalid.",
        ),
        ("Invalid layout B@A", "Invalid layout ?"),
        ("Invalid layout =?@B", "Invalid layout <>EDB"),
        ("Invalid SLayout:can't find u in source", "Invalid SLayout:can't find N in source"),
        ("We don't have an op for aten::bitwise_or but", "We don't have an op for aten::eq but"),
        ("R.add(lv7) (Type of R.Tensor((9, 1), dtype='i'))", "R.add(gv3) (Type of R.Tensor((1,), dtype='f'))"),
        ("at 0x7f00aa", "at 0xdeadbeef"),
        (
            'error: value has to be scalar\n --> <str>:9:63\n    |  \n 9 | lv = R.equal(lv8, R.const("inf"))',
            'error: value has to be scalar\n --> <str>:18:50\n     |  \n 18 | lv7 = R.const("nan")',
        ),
        ("R.add(args_0, _local_scalar_dense) fails", "R.add(x1, _local_scalar_dense_1) fails"),
        ("R.add(p_m0_bias_ih_l0, lv6)", "R.add(b_w3, gv1)"),
        (
            "Compilation error:\n/tmp/a/lib0.c:3:1: error: 'inff' undeclared; did you mean x\n more",
            "Compilation error:\n/tmp/b/lib0.c:99:1: error: 'inf' undeclared\n other",
        ),
        ("operator (Not) in node (/Not): parameter (x0)", "operator (Not) in node (/b/Not_2): parameter (/Less_0)"),
        (
            "LLVM module verification failed:\nInvalid operand\n %1 = fcmp oeq",
            "LLVM module verification failed:\nInvalid operand\n %9 = fcmp one",
        ),
        ('ir.Op(span=None, name="relax.add", args=(f(x),)) fails', 'ir.Op(name="relax.add") fails'),
        (
            'Expected a boolean, but received T.te.tensor_load(metadata["te.Tensor"][0], ax0, ax1)\n'
            "# Metadata omitted. Use show_meta=True in script() method to show it. of type T.int64",
            "Expected a boolean, but received T.te.tensor_load(x0(1), ax0) of type T.uint8",
        ),
        (
            "CodeGenVM cannot emit this.\nOffending call:\nR.add(alloc, alloc1)",
            'CodeGenVM cannot emit this.\nOffending call:\nR.add(alloc, metadata["ir.GenericConst"][0])\n'
            "# Metadata omitted. Use show_meta=True in script() method to show it.",
        ),
        (
            "The buffer sum has dtype T.int64. The function is # from tvm.script import tirx as T\n\n"
            '@T.prim_func(s_tir=True)\ndef avg_pool2d_kernel(lv_ptr: T.handle("int64", "global")):\n    pass',
            "The buffer sum has dtype T.int64. The function is # from tvm.script import tirx as T\n\n"
            '@T.prim_func(s_tir=True)\ndef avg_pool2d_kernel(pool_avg_ptr: T.handle("int64", "global"), x0: ',
        ),
        (
            'extent 0 for target {"kind":"llvm","keys":["cpu"],"host":{"kind":"llvm"},"opt-level":0}',
            'extent 0 for target {"kind":"llvm","keys":["cpu"],"mtriple":"x86_64-linux-gnu"}',
        ),
        ("IRModule contains duplicate global symbol: pad", "IRModule contains duplicate global symbol: logical_xor"),
        (
            "Mismatched lv3.ndim on argument #1 when calling:\n  `add(x1: Tensor([1], int64), lv3: Tensor([n], "
            "int64), T_add: Tensor([n], int64))`,\n  expected 1",
            "Mismatched A.ndim on argument #0 when calling:\n  `sum(A: Tensor([n], int64), A_red: Tensor([1], int64))`,"
            "\n  expected 1",
        ),
        (
            "Expected pred to be bool or tensor, but got Proxy(gt).",
            "Expected pred to be bool or tensor, but got Proxy(any_1).",
        ),
    ],
)
def test_same_bug_same_skeleton(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("CodeGenVM cannot emit relax.trunc", "CodeGenVM cannot emit relax.erfinv"),
        ("Unresolved call tirx.fabs", "Unresolved call tirx.erf"),
        ("x and y must have the same dtype", "x and y must have the same shape"),
        (
            "Mismatched type on argument #0 when calling: `relax.ShapeExpr(0: Array<ir.Expr>, 1: ir.Span) -> ir.Expr`",
            "Mismatched type on argument #0 when calling: `relax.op.add(0: ir.Expr, 1: ir.Expr) -> ir.Expr`",
        ),
        (
            "Mismatched A.ndim on argument #1 when calling:\n  `f(A)`",
            "Mismatched A.dtype on argument #1 when calling:\n  `f(A)`",
        ),
        ('for target {"kind":"llvm"} fails in FuseOps', 'for target {"kind":"llvm"} fails in FoldConstant'),
    ],
)
def test_other_bug_other_skeleton(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


def test_a_skeleton_is_what_is_left_of_a_message() -> None:
    assert skeleton("x (Type of R.Tensor((2,))) and \x1b[31mred\x1b[0m words") == "x and red words"
    assert skeleton("got R.Tensor((9, 1), dtype='i'), Tensor((n, 2)), a T.Buffer((3,)) or R.Tuple(R.Prim)") == (
        "got TENSOR, TENSOR, a TENSOR or TENSOR"
    )
    assert skeleton("R.add(lv7 is not closed, (Type of it neither") == "R.add(VAR is not closed, (Type of it neither"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ("use of undeclared identifier 'inff'; did you mean 'int'?", "‘inff’ undeclared (first use in this function)"),
        ("unexpected type name 'half': expected expression", "expected expression before ‘half’"),
        ("unknown type name ‘half’", "‘half’ undeclared (first use in this function)"),
        ("unknown type name 'half'", "‘half’ undeclared (first use in this function)"),
        ("expected ';' after expression", "expected '"),
    ],
)
def test_texts_for_one_error_become_one_text_of_gcc(error: str, text: str) -> None:
    message = f"Compilation error:\n/tmp/a.c:1:2: error: {error}\n 7 | x"
    assert readable(message) == f"Compilation error: {text}"
    assert (compiler_that_refuses(message), error_of_compiler(message)) == ("the C compiler", text)


def test_output_of_a_compiler_without_an_error_has_none() -> None:
    message = "Compilation error, nvcc on .cu:\n/tmp/a.cu(1): warning #177-D: variable is unused"
    assert (compiler_that_refuses(message), error_of_compiler(message)) == ("`nvcc`", "")
    assert (compiler_that_refuses("error: no"), error_of_compiler("error: no")) == ("", "")


def test_the_cause_of_a_failure_of_the_exporter_through_dynamo() -> None:
    cause = "<class 'torch.onnx.E'>: no 'aten.x'\nfor it\n⬆️\n<class 'b.C'>: later"
    message = f"Failed to convert.\n## Exception summary\n\n{cause}"
    assert readable(message) == "torch.onnx.E: no 'aten.x'\nfor it"
    assert readable(message.replace("\n⬆️", "\n\n(Refer to the report")) == "torch.onnx.E: no 'aten.x'\nfor it"


@pytest.mark.parametrize(
    ("reason", "features"),
    [
        ("Unsupported function types ['amin.default', 'amax.default']", ("amax.default", "amin.default")),
        ("Unsupported function target aten.pow", ("aten.pow",)),
        ("The following operators are not implemented: Loop, If", ("If", "Loop")),
        ("Exporting the operator 'aten::fft' to ONNX opset version 17 is not supported", ("aten::fft",)),
        (
            "DispatchError: No ONNX function found for <OpOverload(op='aten.erfcx', overload='default')>",
            ("aten.erfcx",),
        ),
        ("Could not find an implementation for Erf(13) node", ("Erf",)),
        ("no layout for 7 dimensions", ("no layout for N dimensions",)),
    ],
)
def test_what_is_missing_is_named(reason: str, features: tuple[str, ...]) -> None:
    assert missing_features(Unsupported(Stage.IMPORT, reason)) == features


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("value has to be scalar\n --> <str>:9:63\n    |\n 9 | lv = R.equal(lv8)", "value has to be scalar"),
        ("no dtype [Caused by the value 'a defined in (%3 : Float = aten::x'", "no dtype"),
        ("no kernel for it Argument types: Tensor, int, \nCandidates: aten::x", "no kernel for it"),
        (
            "LLVM module verification failed:\nInvalid operand\n %1 = fcmp oeq",
            "LLVM module verification failed: Invalid operand",
        ),
        ("no rule for The function is # from tvm.script import tirx as T\n\n@T.prim_func", "no rule for"),
        ("fails # Metadata omitted. Use show_meta=True in script() method to show it. here", "fails here"),
        ("in f(T) [with T = float; N = 3] here", "in f(T) here"),
        ('target {"kind":"llvm","keys":["cpu"]}\nnext', "target TARGET next"),
        ("at 0x7f00Aa", "at ADDRESS"),
        (
            "in '/Add_1' and (/Mul_2), Name:'abc', Node (xyz), node (q) parameter (x0)",
            "in NODE and NODE, Name:NODE, Node NODE, node NODE parameter NODE",
        ),
        ("tensor(int8) given", "tensor(DTYPE) given"),
        ("got Tensor[(13, 1), float32] there", "got TENSOR there"),
        ("file /tmp/a/b/lib0.cc fails", "file libN.cc fails"),
        ("name tmpab12_cd3 here", "name TMP here"),
        (
            "dtypes T.int64, R.bool, float16, bfloat16, uint8, i1, double and float8_e4m3",
            "dtypes DTYPE, DTYPE, DTYPE, DTYPE, DTYPE, DTYPE, DTYPE and DTYPE",
        ),
        ("variables lv7, gv, inp_0, args_1, ax0, x1, b_weight and _local_scalar_dense_3", "variables N and VAR"),
        ("numbers -3, 2.5, 1e-7, 4L, 5ll, and x2y", "numbers N and xNy"),
        ("call of inff fails", "call of inf fails"),
        ("wrong beta, moving_var", "wrong PARAMETER, PARAMETER"),
        ("has pre-pad, post-pad", "has PAD, PAD"),
        ("is x.MatchesCode(DLDataTypeCode::kDLFloat) here", "is x.is_float() here"),
        ("Invalid layout ABC@d here", "Invalid layout LAYOUT here"),
        ("can't find q in source", "can't find AXIS in source"),
        ("of input parameter (x0) of operator (Asin) here", "of input parameter NODE of operator (OP) here"),
        ("We don't have an op for aten::bitwise_or but", "We don't have an op for aten::OP but"),
        ("extent T.int64(3) is", "extent N is"),
        ("shapes [(2, 3), (4,), [5]] differ", "shapes [N] differ"),
        ("sizes 2 x 3, n and (7,)", "sizes N n and (N)"),
        ("a  \n  b", "a b"),
    ],
)
def test_what_each_rule_of_a_skeleton_takes_away(message: str, text: str) -> None:
    assert skeleton(message) == text


def test_a_skeleton_is_cut_between_words() -> None:
    assert skeleton("six and " * 40) == ("six and " * 37 + "six").strip()
    assert skeleton("another " * 40) == ("another " * 37).strip()
    assert skeleton("another " * 37 + "four") == "another " * 37 + "four"  # 300 characters
    assert skeleton("long" * 100) == "long" * 75  # one word


def test_frames_name_the_innermost_cpp_and_python_functions() -> None:
    frames = [
        Frame("site-packages/tvm/relax/frontend/torch/base_fx_graph_translator.py", 10, "_conv2d_impl"),
        Frame("site-packages/tvm/relax/block_builder.py", 5, "emit"),
        Frame("/project/src/relax/op/op_common.h", 7, "tvm::Type tvm::relax::Infer<tvm::Call>(const tvm::Call&)"),
        Frame("/project/3rdparty/tvm-ffi/include/tvm/ffi/function.h", 1, "void tvm::ffi::Call()"),
    ]
    assert failure_location(frames) == "op_common.h:tvm::relax::Infer < base_fx_graph_translator.py:_conv2d_impl"
    assert failure_location([]) == ""


def test_plain_function() -> None:
    assert plain_function("virtual void tvm::A<B<C>>::Visit_(const D*, E&) const") == "tvm::A::Visit_"
    assert plain_function("_impl_v13") == "_impl_v13"


@pytest.mark.parametrize(
    ("type_name", "message"),
    [
        ("AssertionError", "Unsupported function types ['amax.default']"),
        ("AssertionError", "as_strided with non-contiguous stride is not supported"),
        ("TypeError", "Got unsupported ScalarType BFloat16"),
        ("ValueError", "Unsupported data type for model parameters: torch.complex64"),
        ("TypeError", "Unsupported output datatype attribute for operation: bfloat16"),
        ("ValueError", "Unsupported coordinate_transformation_mode: half_pixel_symmetric"),
        ("AssertionError", "unidirectional attention is not currently supported"),
        ("AssertionError", "Only constant axes currently supported"),
        ("AssertionError", "SkipLayerNormalization import currently only supports required beta and bias"),
        ("ValueError", "Type <class 'tvm.ir.expr.Var'> for size is currently unsupported."),
        ("ValueError", "Dynamic Split not yet supported"),
        ("ValueError", "TopK k must be a constant"),
        ("TypeError", "CumSum axis input must be a Constant or Var"),
        ("ValueError", "Dynamic Tile requires known input rank and repeats length."),
        ("ValueError", "Slice requires a statically known starts length."),
        ("ValueError", "Cannot broadcast symbolic dimension v with 4: its runtime value is unknown at compile time."),
        ("ValueError", "Squeeze axis 0 has a symbolic extent that cannot be proven to be 1 at import time"),
        ("ValueError", "conversion of scaled_dot_product_attention is not implemented"),
        ("tvm.error.InternalError", "Check failed: group_norm: only support float32 and float16 for now"),
    ],
)
def test_a_plain_no_is_a_refusal_on_export_and_import_and_an_internal_error_later(type_name: str, message: str) -> None:
    later = {Stage.VERIFY, Stage.TRANSFORM, Stage.COMPILE, Stage.LOAD, Stage.RUN}
    for stage in (Stage.EXPORT, Stage.IMPORT):
        assert classify_failure(Raised(stage, type_name, message)) == Unsupported(stage, message)
    for stage in later:
        assert classify_failure(Raised(stage, type_name, message)) == Raised(stage, type_name, message)


@pytest.mark.parametrize(
    "message",
    [
        "mask index should be in shape of (batch_size, seq_len)",
        "Missing outputs during conversion. Expected 2 but Got 1 in MaxPool.",
        "Only one of scales and sizes can be provided in Resize.",
        "Matmul requires the reduction length of the operands to be equal.",
        "dtype mismatch between input (float32) and attribute (11)",
        "Node  cannot handle ShapeExpr inputs.",
    ],
)
def test_what_denies_that_a_valid_model_is_valid_is_no_plain_no(message: str) -> None:
    raised = Raised(Stage.IMPORT, "AssertionError", message)
    assert classify_failure(raised) == raised


ONNX_FRONTEND = "site-packages/tvm/relax/frontend/onnx/onnx_frontend.py"
EXPORTER = "site-packages/torch/onnx/_internal/torchscript_exporter/symbolic_opset14.py"


@pytest.mark.parametrize(
    ("stage", "file", "message", "refuses"),
    [
        (Stage.IMPORT, ONNX_FRONTEND, "LRN only supports 3D or 4D input, got 2D.", True),
        (Stage.IMPORT, ONNX_FRONTEND, "Unsupported PRelu slope shape: [3, 1]", True),
        (Stage.IMPORT, "tvm/relax/frontend/torch/base_fx_graph_translator.py", "Unsupported rounding_mode: up", True),
        (
            Stage.EXPORT,
            EXPORTER,
            "conversion of scaled_dot_product_attention not implemented if enable_gqa is True",
            True,
        ),
        (Stage.IMPORT, "src/relax/op/nn/nn.cc", "LRN only supports 3D or 4D input, got 2D.", False),
        (Stage.IMPORT, "site-packages/tvm/relax/op/nn/nn.py", "Unsupported PRelu slope shape: [3, 1]", False),
        (Stage.COMPILE, ONNX_FRONTEND, "LRN only supports 3D or 4D input, got 2D.", False),
        (Stage.IMPORT, ONNX_FRONTEND, "Axis is out of bounds", False),
        (Stage.IMPORT, ONNX_FRONTEND, "Missing outputs during conversion. Expected 2 but Got 1 in MaxPool.", False),
    ],
)
def test_a_frontend_that_says_what_it_lacks_refuses(stage: Stage, file: str, message: str, refuses: bool) -> None:
    frames = (Frame(ONNX_FRONTEND, 1, "from_onnx"), Frame(file, 9, "_impl_v13", raises=True))
    raised = Raised(stage, "ValueError", message, frames)
    assert classify_failure(raised) == (Unsupported(stage, message) if refuses else raised)
    called = replace(raised, frames=(*frames, Frame("site-packages/onnx/checker.py", 3, "check", raises=True)))
    assert classify_failure(called) == called


@pytest.mark.parametrize(
    "cause",
    [TypeError("unsupported operand type(s) for -: 'NoneType' and 'int'"), TypeError("an int does not support items")],
)
def test_the_words_of_what_failed_within_an_exporter_are_no_statement_of_it(cause: Exception) -> None:
    """Its innermost line raises, for every error of its own code, an exception that quotes this error."""
    outer = RuntimeError("Error when translating node %add.")
    outer.__cause__ = cause
    wraps = Frame("site-packages/torch/onnx/_internal/exporter/_core.py", 1597, "export", raises=True)
    text = _core._STEP_THREE_ERROR_MESSAGE + _core._summarize_exception_stack(outer)
    raised = Raised(Stage.EXPORT, "torch.onnx._internal.exporter._errors.ConversionError", text, (wraps,))
    assert classify_failure(raised) == raised


def test_what_fails_in_the_code_generator_is_no_refusal_whatever_it_says() -> None:
    """It was counted as a feature that is not there."""
    raised = Raised(Stage.RUN, "tvm.error.InternalError", "vectorized store to bool is not supported")
    assert classify_failure(raised) == raised


@pytest.mark.parametrize(
    ("type_name", "message"),
    [
        ("NotImplementedError", "anything"),
        ("tvm.error.OpNotImplemented", "The following operators are not supported"),
        ("onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented", "Could not find an implementation for Erf(13)"),
        ("fuzzer.lanes.onnx.converted.NotConvertible", "onnx.version_converter: to opset 13: RuntimeError"),
        ("fuzzer.lanes.onnx.session.NotKnown", "Unsupported model IR version: 14, max supported IR version: 13"),
        ("torch._dynamo.exc.Unsupported", "Data-dependent branching"),
        ("tvm.error.InternalError", "CodeGenWebGPU: do not support i64"),
        ("tvm.error.InternalError", "Check failed: (t.bits() != 64) is false: CodeGenWebGPU: do not support i64"),
        ("tvm.error.InternalError", "Operator relax.erf gradient: FPrimalGradient has not been registered"),
        (
            "tvm.error.InternalError",
            "Check failed: (!binding->IsInstance<MatchCastNode>()) is false: "
            "MatchCast is not supported in global lifting",
        ),
    ],
)
def test_a_type_that_says_no_and_a_stated_limit_are_refusals_at_every_stage(type_name: str, message: str) -> None:
    for stage in Stage:
        assert classify_failure(Raised(stage, type_name, message)) == Unsupported(stage, message)


def test_a_fault_of_the_machine_is_named_by_the_part_of_the_message_that_tells_it() -> None:
    raised = Raised(Stage.COMPILE, "OSError", "[Errno 28]: No space left on device: '/tmp/lib0.c'")
    assert classify_failure(raised) == Skipped("No space left on device", environment=True)
    assert classify_failure(Died(Stage.COMPILE, Cause.EXIT, 1, log="ld: cannot find -lm\n")) == Skipped(
        "cannot find -lm", environment=True
    )


@pytest.mark.parametrize(
    "words",
    [
        "[Errno 122] Disk quota exceeded: '/tmp/lib0.o'",
        "[Errno 116] Stale file handle",
        "OSError: [Errno 12] Cannot allocate memory",
        "RuntimeError: can't start new thread",
        "libgomp: Thread creation failed: Resource temporarily unavailable",
        "terminate called: 'std::system_error'\n  what():  Resource temporarily unavailable",
        "gcc: fatal error: cannot execute 'cc1': vfork: Cannot allocate memory",
        "[Errno 24] Too many open files",
    ],
)
def test_what_the_machine_lacks_is_no_failure_of_a_lane(words: str) -> None:
    for failure in (Raised(Stage.COMPILE, "RuntimeError", words), Died(Stage.COMPILE, Cause.EXIT, 1, log=words)):
        found = classify_failure(failure)
        assert isinstance(found, Skipped)
        assert found.environment


def test_what_a_model_takes_itself_is_no_fault_of_the_machine() -> None:
    words = "can't allocate memory: you tried to allocate 1099511627776 bytes. Error code 12 (Cannot allocate memory)"
    raised = Raised(Stage.RUN, "RuntimeError", words)
    assert classify_failure(raised) == raised


def test_the_exporter_of_torch_has_moved() -> None:
    """The name in torch 2.9 and the one before it are one type."""
    for module in ("torch.onnx._internal.torchscript_exporter.errors", "torch.onnx.errors"):
        raised = Raised(Stage.EXPORT, f"{module}.UnsupportedOperatorError", "anything")
        assert classify_failure(raised) == Unsupported(Stage.EXPORT, "anything")


def test_torch_compile_calls_the_importer_while_it_compiles() -> None:
    raised = Raised(Stage.COMPILE, "AssertionError", "Unsupported function types ['amax.default']")
    importer = Frame("tvm/relax/frontend/torch/fx_translator.py", 9, "from_fx")
    backend = Frame("tvm/relax/frontend/torch/dynamo.py", 9, "_relax_backend")
    assert isinstance(classify_failure(replace(raised, frames=(backend, importer))), Unsupported)
    assert classify_failure(replace(raised, frames=(backend,))) == replace(raised, frames=(backend,)), (
        "what TVM compiles then"
    )


def test_an_ill_formed_module_is_identified_by_the_pass_without_its_options() -> None:
    found = signature_of(finding(IllFormed("ConvertLayout-NHWC", "ValueError", "no x7"), Kind.ILL_FORMED))  # type: ignore[arg-type]
    assert (found.error, found.skeleton, found.frame) == ("ValueError", "no VAR", "ConvertLayout")


def test_the_coarse_signature_and_what_a_finished_one_adds() -> None:
    coarse = Signature(Kind.WRONG_VALUE, Component.TVM, Stage.RUN, against="its plain sibling")
    final = replace(
        coarse, ops=("relu",), where="export", by="FuseOps", graph="relu(neg)", blamed=(Place.PASS, "FuseOps")
    )
    assert final.coarse == coarse
    assert coarse.as_finished_in(final) == final
    unstable = replace(coarse, kind=Kind.SECOND_RUN_DIFFERS)
    assert unstable.as_finished_in(final).kind is Kind.WRONG_VALUE


def test_deaths_and_wrong_results_are_distinguished_by_operators_only() -> None:
    one = signature_of(finding(Died(Stage.RUN, Cause.SIGNAL, 11, "free(): invalid pointer"), Kind.DIED))
    other = signature_of(finding(Died(Stage.RUN, Cause.SIGNAL, 6, "munmap_chunk()"), Kind.DIED))
    assert one == other
    assert replace(one, ops=("conv2d",)).id != replace(one, ops=("bmm",)).id
    assert replace(one, ops=("conv2d",)).same_failure(other)


def test_garbage_that_stays_is_the_same_failure_as_garbage_that_changes() -> None:
    wrong, unstable = (
        Signature(kind, Component.TVM, Stage.RUN) for kind in (Kind.WRONG_VALUE, Kind.SECOND_RUN_DIFFERS)
    )
    assert wrong.same_failure(unstable)
    assert unstable.same_failure(wrong)
    assert not wrong.same_failure(replace(wrong, kind=Kind.WRONG_SHAPE))


def test_id_is_stable() -> None:
    """A change here renames every finding that users have."""
    known = Signature(Kind.WRONG_VALUE, Component.TVM, Stage.RUN, ops=("squeeze", "linear"), where="export")
    assert known.id == "0cbcb259b08a"


@pytest.mark.parametrize(
    ("blamed", "identity"),
    [
        ((Place.PASS, "FuseOps"), "3d6969295ece"),
        ((Place.CODEGEN, "linear"), "4e6cc335af0c"),
        ((Place.FRONTEND, "linear"), "0e8521dc3a02"),
        ((Place.FRONTEND, "_linear"), "0965e3895310"),
        ((Place.LEGALIZATION, "relax.linear"), "bba2c60c3242"),
        ((Place.RUNTIME, "linear"), "0ae611f2f3ab"),
    ],
)
def test_id_of_what_is_blamed_is_stable(blamed: tuple[str, ...], identity: str) -> None:
    known = Signature(Kind.WRONG_VALUE, Component.TVM, Stage.RUN, ops=("linear", "relu"), where="export,onnx llvm")
    assert replace(known, graph="relu(linear(x,w))", blamed=blamed).id == identity


def test_id_of_an_operator_that_a_frontend_of_pytorch_gets_wrong_is_stable() -> None:
    known = Signature(Kind.WRONG_VALUE, Component.TVM, Stage.RUN, ops=("linear", "relu"), where="export llvm")
    assert replace(known, graph="relu(linear)", blamed=(Place.FRONTEND, "linear")).id == "2ec3e5027485"


def test_a_failure_of_a_converter_is_that_of_no_relax_operator() -> None:
    converter = Frame("site-packages/tvm/relax/frontend/torch/base_fx_graph_translator.py", 10, "_conv_impl")
    for operator, message in (("nn.linear", "In relax.nn.linear, no layout"), ("add", "R.add uses datatype")):
        raised = Raised(Stage.IMPORT, "ValueError", message, (converter,))
        assert signature_of(finding(raised)).skeleton == message.replace(operator, "OP")
        assert signature_of(finding(replace(raised, frames=()))).skeleton == message


@pytest.mark.parametrize(
    ("component", "importer", "part"),
    [
        (Component.EXPORTER, Importer.EXPORT, "torch.export"),
        (Component.EXPORTER, Importer.ONNX, ""),  # the TorchScript exporter
        (Component.EXPORTER, Importer.ONNX_DYNAMO, "onnx-dynamo"),
        (Component.TVM, Importer.EXPORT, ""),
        (Component.TVM, Importer.ONNX_DYNAMO, ""),
    ],
)
def test_the_part_of_a_component_takes_the_place_of_a_location(
    component: Component, importer: Importer, part: str
) -> None:
    lane = replace(TVM_LANES[0], importer=importer)
    for evidence in (Died(Stage.RUN, Cause.SIGNAL, 11), Mismatch(0, "a", "b", against="another lane")):
        assert signature_of(Finding(Kind.WRONG_VALUE, component, lane, Stage.RUN, evidence)).frame == part


def test_what_a_lane_is_held_against_is_part_of_its_identity_where_it_is_not_pytorch() -> None:
    def signature(kind: Kind = Kind.WRONG_VALUE, **more: str) -> Signature:
        return signature_of(finding(Mismatch(0, "a", "b", **more), kind))  # type: ignore[arg-type]

    assert signature().against == ""
    beside = signature(against="relax-export-llvm", by="pipeline zero")
    assert (beside.against, beside.by) == ("its plain sibling", "")  # what it is wrong by is known when it is reduced
    assert replace(beside, by="pipeline zero").id != beside.id
    assert replace(beside, by="pipeline zero").same_failure(beside)
    assert beside.id != signature().id
    assert not beside.same_failure(signature())
    assert signature(against="torch.autograd").against == "torch.autograd"
    for kind in (Kind.SECOND_RUN_DIFFERS, Kind.NONDETERMINISTIC):  # the kind says it
        assert signature(kind, against="the first run").against == ""


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (IllFormed("FuseOps", "E", "x is 3"), IllFormed("FuseOps", "E", "x is 7"), True),
        (IllFormed("FuseOps", "E", "no"), IllFormed("FuseTIR", "E", "no"), False),
        (Mutant("a shape", MutantFate.RAISED, "1"), Mutant("a shape", MutantFate.RAISED, "2"), True),
        (Mutant("a shape", MutantFate.RAISED), Mutant("a dtype", MutantFate.RAISED), False),
        (Mutant("a shape", MutantFate.RAISED), Mutant("a shape", MutantFate.DIED), False),
        (SideEffect(modified=("x0",)), SideEffect(modified=("x1",)), True),
        (Excess(Quantity.LIBRARY, 2, 1, "a"), Excess(Quantity.LIBRARY, 9, 3, "a"), True),
        (Excess(Quantity.LIBRARY, 2, 1, "a"), Excess(Quantity.CONSTANTS, 2, 1, "a"), False),
    ],
)
def test_other_evidence_has_its_identity(one: Evidence, other: Evidence, same: bool) -> None:
    ids = {signature_of(finding(evidence, Kind.ILL_FORMED)).id for evidence in (one, other)}  # type: ignore[arg-type]
    assert (len(ids) == 1) is same


def test_what_costs_too_much_is_identified_by_what_it_was_compared_with() -> None:
    excess = signature_of(finding(Excess(Quantity.LIBRARY, 2, 1, "the parameters"), Kind.BLOAT))  # type: ignore[arg-type]
    assert (excess.skeleton, excess.against) == (Quantity.LIBRARY.value, "the parameters")


def test_outputs_that_are_inputs_are_one_finding_whatever_operators_amount_to_an_identity() -> None:
    assert not Signature(Kind.ALIASED_OUTPUT, Component.TVM, Stage.RUN).needs_ops
    assert Signature(Kind.MODIFIED_INPUT, Component.TVM, Stage.RUN).needs_ops


def test_a_converter_fails_alike_though_torch_compile_calls_it_while_it_compiles() -> None:
    frame = "op_common.h:tvm::relax::InferBinaryArithOpOutDtype < base_fx_graph_translator.py:_conv2d_impl"
    imports = Signature(Kind.INTERNAL_ERROR, Component.TVM, Stage.IMPORT, "TypeError", "no", frame)
    compiles = replace(imports, stage=Stage.COMPILE)
    assert imports.same_bug(compiles)
    assert imports.same_failure(compiles)
    assert not replace(imports, frame="codegen.cc:Visit_").same_failure(replace(compiles, frame="codegen.cc:Visit_"))


def test_what_a_checker_does_not_take_is_one_bug_whatever_operators_bring_it_there() -> None:
    def refused(message: str, target: str) -> Signature:
        evidence = Raised(Stage.LOAD, "fuzzer.lanes.written.Refused", f"Compilation error, {message}")
        lane = next(lane for lane in TARGET_LANES if lane.target == target)
        return signature_of(Finding(Kind.INTERNAL_ERROR, Component.TVM, lane, Stage.LOAD, evidence))

    one = refused("node on .wgsl:\n2: error: 'i8' type used without 'x' enabled", "webgpu")
    assert not one.needs_ops
    assert one.same_bug(refused("node on .wgsl:\n71: error: 'i64' type used without 'x' enabled", "webgpu"))
    assert not one.same_bug(refused("clang on .cl:\n2: error: 'i8' type used without 'x' enabled", "opencl"))
