"""What exceptions say, in the words of a person: examples, and all recorded failures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from recording import paths, read

from fuzzer.findings import finding_file
from fuzzer.signature import readable
from fuzzer.signature.in_words import checker_in_words, in_words, main_clause
from fuzzer.signature.message_table import MESSAGES
from oracles.outcome import Frame, Raised, Stage

CRASHES = Path(__file__).parents[3] / "crashes"
MUL = Frame("/project/src/target/llvm/codegen_llvm.cc", 1616, "llvm::Value* tvm::codegen::CodeGenLLVM::CreateMul(int)")
CALLS = Frame(
    "/project/src/target/source/codegen_c.cc", 9, "void tvm::codegen::CodeGenC::Dispatch_(int, std::ostream&)"
)
NO_FLOAT = "Check failed: (t.MatchesCode(DLDataTypeCode::kDLFloat)) is false: "


def raised(message: str, *frames: Frame, type: str = "tvm.error.InternalError") -> Raised:
    return Raised(Stage.COMPILE, type, message, frames)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (raised(NO_FLOAT, MUL), ("`CreateMul` gets neither an integer nor a float", "`CreateMul` takes no such type")),
        (raised("Check failed: (a == b) is false: ", MUL), ("a check fails in `CreateMul`",)),
        (raised("Check failed: (a == b) is false: "), ()),
        (raised("Check failed: a == b (1 vs. 2) : No type", MUL), ("No type in `CreateMul`", "No type")),
        (raised("Conv1dTranspose expects the output padding less than the strides, but the output padding is(1,) while "
                "the strides are(1,)", type="ValueError"),
         ("output padding (1) is not less than strides (1)", "output padding (1) for strides (1)",
          "the output padding is not less than the strides")),
        (raised("No such call", CALLS), ("No such call in `CodeGenC::Dispatch_`", "No such call")),
        (raised("", MUL, type="AssertionError"),
         ("an assertion fails in `CreateMul`", "an assert fails in `CreateMul`")),
        (raised("", type="AssertionError"), ()),
        (raised("0", type="KeyError"), ("KeyError: 0",)),
        (raised("", type="KeyError"), ()),
        (raised("x and y must agree: a vs b", MUL), ("x and y must agree: a vs b", "x and y must agree")),
        (raised("one line\n\nand advice on the next"), ("one line",)),
        (raised("Compilation error:\na.c:1:2: error: ‘half’ undeclared (first use in this function); did you mean x?"),
         ("the C compiler says: ‘half’ undeclared", "‘half’ undeclared")),
        (raised("Compilation error, nvcc on .cu:\na.cu(1): error: identifier \"h\" is undefined"),
         ('`nvcc` says: identifier "h" is undefined', 'identifier "h" is undefined')),
        (raised("Compilation error, nvcc on .cu:\na.cu(1): warning #1: unused"), ("`nvcc` refuses the code",)),
    ],
)  # fmt: skip
def test_the_fullest_text_comes_first(message: Raised, words: tuple[str, ...]) -> None:
    assert in_words(message) == words


@pytest.mark.parametrize(
    ("message", "clause"),
    [
        ("Check failed: (a >= 0) is false: cannot make uint from -1", "cannot make uint from -1"),
        ("Take op requires integers. However, it has bool", "Take op requires integers"),
        ("tuple index out of range", "tuple index out of range"),
        ("the mask should be of shape (a, b), but is not", "the mask should be of shape"),
        ("the mask should be one of (a, b), but is not", "the mask should be one of (a, b)"),
        ("error: no such file --> <str>:1:12", "no such file"),
    ],
)
def test_the_main_clause_of_a_message(message: str, clause: str) -> None:
    assert main_clause(message) == clause


def test_what_the_checker_of_modules_says() -> None:
    assert checker_in_words("Var s69 is not defined.") == "a variable is not defined"
    assert checker_in_words("DataflowVar cannot be used as a dependent type expression.") == (
        "a type uses a dataflow variable"
    )
    assert checker_in_words("Function 0x562c is annotated as pure but contains an impure call: R.call_packed(x).") == (
        "a pure function makes an impure call"
    )
    assert checker_in_words("Function main has no type. It must have one.") == "Function main has no type"


def recorded() -> Iterator[Raised]:
    """What was raised in the recorded failures and in the findings that ship with difftvm."""
    evidence = [failure.finding.evidence for path in paths() for failure in read(path).failures]
    evidence += [doc.evidence.evidence for _, doc in finding_file.readable(finding_file.folders_in(CRASHES))]
    return (each for each in evidence if isinstance(each, Raised))


LONGEST = 60
"""How long the shortest text of a recorded message may be: a title has that much room beside its area."""


def test_each_recorded_message_has_a_short_text() -> None:
    found = {each.message: in_words(each) for each in recorded()}
    assert len(found) > 150
    assert [message for message, words in found.items() if not words or len(words[-1]) > LONGEST] == []


OF_CAMPAIGNS = {
    "emit_te now only supports Tensor that has ShapeExpr shape": "`emit_te` needs a known shape",
    "Data type T.bfloat16 not supported for isnan op. Skipping isnan op...": "`isnan` takes no bfloat16",
    "CodeGenVM cannot emit this Relax operator directly. Run the appropriate lowering pass, or route the operator to "
    "an external codegen before VM codegen.\nOffending call:\nR.add(alloc2, x0)": "`R.add` is not lowered",
    "Check failed: (ffi::StructuralEqual()(value->ty, var->ty)) is false: ": "a variable has a wrong type",
    "ones_like(): argument 'input' (position 1) must be Tensor, not int": "`ones_like` gets `int`",
    "ScalarType ComplexDouble is an unexpected tensor scalar type": "ComplexDouble type",
    "Mismatched type on argument #3 when calling: `relax.op.nn.conv2d(0: ir.Expr, 6: str, 9: Optional<DataType>) -> "
    "ir.Expr`. Expected `Array<int>` but got `ffi.SmallStr`": "it gets a string",
    "object of type 'Var' has no len()": "`Var` has no length",
    "'Proxy' object does not support item assignment": "`Proxy` takes no item assignment",
    "Reshape requires the input new shape to be Shape. However, the given one is relax.TensorType":
        "the new shape is a tensor",
    "relax.nn.group_norm expects that all inputs must have the same dtype, but got T.float32 and T.float16":
        "float32 and float16 inputs",
    "meshgrid expects all input tensors to have the same dtype. Found T.int64 and T.float32":
        "int64 and float32 inputs",
    "SliceScatter op requires the input data to have the same type as src. However, the given types are data: "
    "T.float32, src: T.bool": "bool src, float32 data",
    "Check failed: x->dtype == y->dtype (T.bool vs. T.float32) : x and y must have the same dtype: T.bool vs T.float32":
        "bool and float32 operands",
    "Check failed: (data_type == PrimType::Float(32) || data_type == PrimType::Float(16)) is false: layer_norm: only "
    "support float32 and float16 for now": "it takes only float32 and float16",
    "Check failed: (small.has_value()) is false: Literal value -9223372036854775808 exceeds range of int32":
        "a literal exceeds int32",
    "Python integer -2 out of bounds for uint8": "-2 exceeds uint8",
    "The buffer v0_red_rf_local allocated in the function has dtype T.int64. The": "a buffer of int64 is refused",
    "relax.nn.batch_norm requires the input gamma to have as many dimensions as the length of input axes. However, the "
    "given one has ndim 2, which is other than the length of axes 1": "gamma has rank 2, not 1",
    "Concat expects all input tensors to have same ndim. However, the input contains tensors with ndim 2 and 1":
        "ranks 2 and 1",
    "Resize3D expects the given output image size to be a 3-dim shape, while the given one has ndim 0":
        "the size has 0 of 3 numbers",
    "The key should have 4 dimension, namely [batch size, sequence length, number of heads, dimension of heads].":
        "key is not 4D",
    "scaled_dot_product_attention expects 2D or 4D inputs, but got 3D input": "3D input refused",
    "mask index should be in shape of (batch_size, seq_len),\n            or (batch_size, seq_len, seq_len)":
        "the mask has neither rank 2 nor rank 3",
    "In-place index 0 is out of range (must be between -1 and 0, inclusive, but is 1)": "a wrong in-place index",
    "Tensor constants are not supported in primitive functions.": "a function to fuse has a constant in it",
    "dtype mismatch on BufferStore: buffer's dtype is `T.uint16`, the lanes of indexing are: `1`, the scalability is: "
    "`0`, but RHS's dtype is `T.bfloat16`": "it stores bfloat16 as uint16",
    "Check failed: (arg.ty().MatchesCode(DLDataTypeCode::kDLInt)) is false: Expected integer or boolean argument for ~ "
    'operator (bitwise NOT), but received T.te.tensor_load(metadata["te.Tensor"][0], ax0)\n# Metadata omitted. Use '
    "show_meta=True in script() method to show it. of type T.float32": "`~` takes no float32",
    "Compilation error, nvcc on .cu:\n/tmp/a.cu(1): warning #177-D: unused": "`nvcc` refuses the code",
    "unsupported operand type(s) for @: 'GenericConst' and 'GenericConst'": "`@` takes no `GenericConst`",
    "The query number of heads should be a multiple of key number of heads. However, the number of heads of query is "
    "T.int64(1) while the number of heads of key is T.int64(2)": "1 and 2 heads",
    "broadcast_to expects the input tensor shape is broadcastable to the target shape. The target shape at dim 0 is "
    "T.int64(1) while the input tensor shape at dim 0 is T.int64(2), which are not equal.": "size 2 to 1",
    "Reshape expects the new shape to be convertible from the old shape. However, the old shape is R.shape([2]), with "
    "product T.int64(2), while the new shape is R.shape([]), with product T.int64(1)": "2 elements become 1",
    "index 1 is out of bounds for axis 0 with size 1": "index 1 for size 1",
    "index_tensor: cannot broadcast index shapes. Mismatch at axis 0: T.int64(2) vs T.int64(3)":
        "indices of sizes 2 and 3",
    "Operator relax.permute_dims requires argument 0 (x) to be a tensor.  However, the argument R.shape([1]) is "
    "instead of type R.Shape([1])": "`x` is no tensor",
    "Check failed: (lhs_ty.as<PrimTypeNode>()) is false: Arguments to binary operators must be either R.Tensor or "
    "R.Prim types, but expression R.equal(gv, x0) has LHS gv, which has Type R.Shape([1])": "an operand is `R.Shape`",
    "Node cannot handle ShapeExpr inputs.": "an input is a shape",
    "output 0 of the compiled function is a shape, no tensor": "output 0 is a shape",
    "Cannot cast <class 'NoneType'> to list of Expr": "`NoneType` is no list",
    "int() argument must be a string, a bytes-like object or a real number, not 'Add'": "`int()` takes no `Add`",
    "unsupported operand type(s) for ** or pow(): 'IntImm' and 'float'": "operands are `IntImm` and `float`",
    "only 0-dimensional arrays can be converted to Python scalars": "an array is no scalar",
    "Cannot convert infinity to BigInt": "infinity is no integer",
    "shape must be a tuple/list or a Relax shape expression": "the shape is no list",
    "OptionalHasElement expects one input, but got 0": "it gets 0 inputs",
    "Check failed: (!expr->ty.IsMissing()) is false: The type is not populated, check if you have normalized the expr":
        "an expression has no type",
    "Check failed: (a) is false: Cannot convert when exactly one of the layouts is unknown":
        "one of two layouts is unknown",
    "Check failed: (current_subtree_ == -1) is false: There should be a compute block if there is only one subtree "
    "under the root.": "there is no compute block",
    "/tmp/lib0.c:572:29: runtime error: signed integer overflow: 1 - -9 cannot be represented in type 'long int'":
        "signed integer overflow",
    "dtype mismatch between input (float32) and attribute (6)": "a dtype other than float32 is refused",
    "Reshape expects the new shape to be convertible from the old shape. However, the old shape is R.shape([0, 1]), "
    "with product T.int64(0), while the new shape is R.shape([1, 1]), with product T.int64(1)": "0 elements become 1",
    "Check failed: (lhs_ty.as<TensorTypeNode>()) is false: Arguments to binary operators must be either R.Tensor or "
    "R.Prim types, but expression R.mod(gv8, x4) has LHS gv8, which has Type T.Tuple(R.Te": "an operand is a tuple",
    "Cannot convert sub with type <class 'torch.fx.node.Node'> to `relax.Expr`": "`Node` is no `relax.Expr`",
    "IndexPut requires the input data to have the same type as values. However, the given types are data: T.float32, "
    "values: T.int64": "int64 values, float32 data",
    "Only one of scales and sizes can be provided in Resize.": "scales and sizes are both given",
    "object of type 'NoneType' has no len()": "`None` has no length",
    "Check failed: (false) is false: Non single or double precision floating point in Mod, expected 32 or 64 bits but "
    "got 16 bits.": "`Mod` takes no float of 16 bits",
    "Check failed: (lhs.ty().MatchesCode(DLDataTypeCode::kDLInt)) is false: Expected integer argument as LHS of & "
    "operator (bitwise AND), but received T.float32(0.0) of type T.float32": "`&` takes no float32",
    "TypeError: TIR TensorLoad at <root>.body.value asserts result type T.float16, but its source and indices imply "
    "T.float32.": "a buffer of float32 is read as float16",
    "Data type T.bool not supported for finiteness ops. Skipping it...": "a test of finiteness takes no bool",
    "Cannot decide min_value for typeT.bool": "bool has no least value",
    "Cannot decide max_value for typeT.bool": "bool has no greatest value",
    "ScatterND op requires the updates tensor to have the rank of `data tensor + indices tensor - last axis of indices "
    "tensor - 1`. However, the given shapes are data: R.shape([1, 1])": "updates have a wrong rank",
    "ScatterND op requires the updates tensor to have the shape with constraint: `updates.shape = indices.shape[:-1] + "
    "data.shape[K:]`, but got updates.shape: R.shape([n])": "updates have a wrong shape",
    "relax.nn.layer_norm requires the input gamma, beta, etc., to have size same as the lengths of the data on the "
    "given axes. However, there exists (T.int64(2),) and (T.int64(1),) that are unequal.": "sizes 2 and 1 differ",
    "The bias should have 4 dimensions.However, the bias input has 2 dimensions.": "bias has rank 2",
    "Index -1 out of bounds 0": "index -1 for length 0",
    "Check failed: index >= 0 (-1 vs. 0) : Index out of bounds: Tuple R.split(x0, axis=0) cannot be accessed with "
    "negative index -1": "a tuple gets index -1",
    "Matmul requires the reduction length of the operands to be equal. However, the LHS lv has shape R.shape([2]), "
    "while the RHS lv4 has shape R.shape([1, 2]). The reduction dimensions of T.int64(2) and T.int64(1) are not equal.":
        "lengths 2 and 1 differ",
    "SliceScatter op requires the src tensor's dimension at scatter axis (0) to match the number of elements in the "
    "slice. Actual src dimension at axis 0: T.int64(1), Expected elements in slice (num_elem): T.int64(116)":
        "size 1 for a slice of 116",
    "ONNX Expand: Invalid target dimension 0 at possition 0. Target dimensions must be >= 1.":
        "a target size of 0 is refused",
    "Size mismatch: relax.quantize: the input shape at dim 0 is 'v', but size of scale param is 'T.int64(0)'":
        "scale has size 0, not v",
    "Check failed: (res != std::string::npos) is false: Invalid SLayout:can't find S in source layoutAB":
        "the layout AB has no axis S",
    "Mismatched lv3.ndim on argument #0 when calling:\n  `matmul(lv3: Tensor([n], int64), matmul: Tensor([], int64))`,"
    "\n  expected 1": "argument 0 is not of rank 1",
    "unknown intrinsic tirx.asinh": "`tirx.asinh` has no code",
    "Check failed: (a) is false: Inconsistent buffers compute and A mapped to the same relax var: lv4":
        "a value has two types",
    "Check failed: block_realize == old_block_realize_.get() (0x5568f3580050 vs. 0x5568f3b3a960) :":
        "it finds the wrong block to replace",
    "Check failed: (msgs[i].IsNested()) is false: Expected nested to match tuple": "a tuple gets one layout only",
    'Check failed: (opt) is false: The type of Tuple must be TupleType, but expression gv has type R.Tensor((1, 1))':
        "a tuple has the type `R.Tensor`",
    "Check failed: (tensor) is false: Expected TensorType, but got R.Callable((R.Tensor((1,))), R.Tuple, False)":
        "it gets `R.Callable`",
    "Check failed: (tensor_ty) is false: shape_of expects a tensor input, but received R.Shape(ndim=-1); use MatchCast":
        "`shape_of` gets `R.Shape`",
    "Unsupported output type in exported graph output: <class 'bool'>": "the output is a Python `bool`",
    'Cannot parse attribute: name: "value_ints"\ntype: INTS\n.': "it cannot read `value_ints`",
    "module 'tvm.topi.nn' has no attribute 'pixel_shuffle'": "it has no `pixel_shuffle`",
    'Argument 0 type mismatch: expected R.Tensor((1, 1), dtype="float16"), given R.Tensor((1, 1), dtype="float32")':
        "argument 0 is float32",
    "Mismatched type on argument #1 when calling: `relax.op.nn.adaptive_avg_pool3d(0: ir.Expr) -> ir.Expr`. Expected "
    "`Optional<Array<int>>` but got `Array[index 2: None]`": "a list contains `None`",
    "Mismatched type on argument #3 when calling: `relax.op.one_hot(3: int) -> ir.Expr`. Expected `int` but got "
    "`ir.Var`": "`Var` is no `int`",
    "Mismatched type on argument #0 when calling: `relax.op.f(0: Array<int>) -> ir.Expr`. Expected `Array<int>` but "
    "got `ir.Var`": "it gets `Var`",
    "Missing outputs during conversion. Expected 3 but Got 2 in MaxPool.": "it has 2 of 3 outputs",
    "Expected pred to be bool or tensor, but got Proxy(ge).": "the condition is a `Proxy`",
    "Only consecutive 1-d tensor indices are supported in exporting aten::index_put to ONNX.":
        "indices are neither 1D nor consecutive",
    "symbolically traced variables cannot be used as inputs to control flow": "a traced value decides a branch",
    "Cannot determine scalar type for this '<class 'torch.TensorType'>' instance": "a dtype is unknown",
    "rshift: Expected input tensor to have an integral dtype. Got torch.bool": "`rshift` takes no bool",
    "Inputs of Max must have same dtype.Got Short and Byte": "`Max` of Short and Byte",
    "conversion of scaled_dot_product_attention not implemented if enable_gqa is True":
        "`enable_gqa` is not implemented",
    "[ONNXRuntimeError] : 10 : INVALID_GRAPH : This is an invalid model. In Node, (x)": "the exported file is invalid",
}  # fmt: skip
"""Messages that are not recorded, and their shortest texts."""


@pytest.mark.parametrize("message", OF_CAMPAIGNS)
def test_messages_of_campaigns(message: str) -> None:
    assert in_words(raised(message))[-1] == OF_CAMPAIGNS[message]


def test_each_row_of_the_table_says_what_some_message_says() -> None:
    messages = [" ".join(readable(each).split()) for each in (*(each.message for each in recorded()), *OF_CAMPAIGNS)]
    unused = [pattern for pattern, *_ in MESSAGES if not any(re.search(pattern, message) for message in messages)]
    assert unused == []
