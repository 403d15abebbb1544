"""What messages of TVM, PyTorch, onnxruntime and C compilers say, in the words of a person."""

from __future__ import annotations

_TYPE = r"(?:T\.)?(\w+)"
_OWN_TYPE = rf"(?:the given )?\w+(?: tensor \d+)?(?: has)? dtype(?: is |=){_TYPE}"

MESSAGES: tuple[tuple[str, ...], ...] = (
    # dtypes
    (
        rf"^Binary operators must have the same datatype .*? uses datatype {_TYPE} on .* datatype {_TYPE} on",
        "operands are {0} and {1}",
        "{0} and {1} operands",
    ),
    (
        rf"expects (?:that )?all input(?: tensor)?s (?:to|must) have the same dtype.*? {_TYPE} and {_TYPE}$",
        "inputs are {0} and {1}",
        "{0} and {1} inputs",
    ),
    (
        rf"requires the input data to have (?:the )?same type .* are data: {_TYPE}, (\w+): {_TYPE}",
        "{1} of {2} for data of {0}",
        "{1} of {2}, data of {0}",
        "{1} of {2}",
    ),
    (
        rf"requires all the input tensors to have the same dtype\. However, the (\w+) has dtype {_TYPE} .* {_TYPE}$",
        "{0} of {1} for data of {2}",
        "{0} of {1}, data of {2}",
    ),
    (rf"x and y must have the same dtype: {_TYPE} vs {_TYPE}", "operands are {0} and {1}", "{0} and {1} operands"),
    (r"\b(\w+): only support (\w+) and (\w+) for now", "it takes {1} and {2} only"),
    (r"Literal value -?\d+ exceeds range of (\w+)", "a literal exceeds {0}"),
    (r"^Python integer (-?\d+) out of bounds for (\w+)", "{0} exceeds {1}"),
    (rf"^The buffer \S+ allocated in the function has dtype {_TYPE}", "a buffer has dtype {0}"),
    (
        rf"^(\S+) (?:expects that data must be float, but got|requires .* float dtype\. .* is) {_TYPE}$",
        "`{0}` takes no {1}",
        "it takes no {1}",
    ),
    (rf"requires .* ind(?:ices|ex tensor)s? to have integer dtype\. However, {_OWN_TYPE}", "indices are {0}"),
    (rf"requires the input condition tensor to have boolean dtype\. However, {_OWN_TYPE}", "the condition is {0}"),
    (rf"^Data type {_TYPE} not supported for (\w+) op", "`{1}` takes no {0}"),
    (r"^Cannot decide min_value for type(?:T\.)?(\w+)", "{0} has no least value"),
    (r"^dtype mismatch between input \((\w+)\) and attribute", "the dtype is not {0}, as that of the input"),
    (r"Arguments to binary operators must .* which has Type (?:T\.)?Tuple", "an operand is a tuple"),
    (rf"^dtype mismatch on BufferStore: .* `{_TYPE}`, the lanes .* `{_TYPE}`", "{1} is stored in a buffer of {0}"),
    (r"Expected boolean argument for ! operator", "logical not of a number"),
    (
        r"\(t\.(?:MatchesCode\(DLDataTypeCode::kDLFloat|is_float\()\)\) is",
        "{place} gets neither an integer nor a float",
        "{place} takes no such type",
    ),
    (
        r"^Check failed: \(ffi::StructuralEqual\(\)\(value->ty, var->ty\)\)",
        "a variable and its value differ in type",
        "a variable has a wrong type",
    ),
    # ranks, shapes, axes
    (r"^broadcast_to .* has ndim (\d+) while the target shape has ndim (\d+)", "it broadcasts rank {0} to rank {1}"),
    (r"^IndexPut requires each index tensor to have at least 1 dimension", "an index has rank 0"),
    (r"^IndexPut requires the number .* \((\d+)\) to match .* \((\d+)\)", "indices for {0} of {1} dimensions"),
    (
        r"requires the indices tensor to have the same shape with updates",
        "indices and updates differ in shape",
        "updates have another shape",
    ),
    (r"same rank with indices tensor\. .* indices: (\d+), data: (\d+)", "indices have rank {0}, and data {1}"),
    (
        r"expects the output padding less than the strides",
        "the output padding is not below the stride",
        "output padding too large",
    ),
    (r"requires axis to be within the input dimension range .* axis is (-?\d+)", "axis {0} is out of range"),
    (
        r"^In (\S+), the input axis (-?\d+) is out of range\. .* has (\d+) dim",
        "`{0}` gets axis {1} for rank {2}",
        "axis {1} for rank {2}",
    ),
    (
        r"^In (\S+), the first .*\((\d+)\) and .*\((\d+)\), which are not broadc",
        "`{0}` gets sizes {1} and {2}",
        "sizes {1} and {2}",
    ),
    (
        r"requires the input (\w+) to have as many dimensions as .* has ndim (\d+), .* (\d+)$",
        "{0} has rank {1} for {2} axes",
        "{0} has rank {1}",
    ),
    (r"^(\w+) expects all input tensors to have same ndim\. .* with ndim (\d+) and (\d+)", "ranks {1} and {2}"),
    (r"^Resize\dD expects the given output image size .* has ndim (\d+)", "the size has {0} numbers"),
    (r"^The (\w+) should have (\d+) dimension", "the {0} has not {1} dimensions", "{0} is not {1}D"),
    (r"^(\w+) expects \w+ or \w+ inputs, but got (\w+) input", "`{0}` takes no {1} input", "{1} input"),
    (
        r"^The query number of heads .* query is T\.int64\((\d+)\) .* key is T\.int64\((\d+)\)",
        "{0} heads of the query for {1} of the key",
        "{0} and {1} heads",
    ),
    (
        r"^broadcast_to expects .* target .* is T\.int64\((\d+)\) while .* is T\.int64\((\d+)\)",
        "it broadcasts size {1} to {0}",
        "size {1} to {0}",
    ),
    (r"^index (\d+) is out of bounds for axis \d+ with size (\d+)", "index {0} for size {1}"),
    (r"^In (\S+), layout \w+ requires .* has ndim (\d+)", "`{0}` gets rank {1}"),
    (r"^PermuteDims expects .* ndim is (\d+) while the given number of axes is (\d+)", "{1} axes for rank {0}"),
    (r"^Take op expects .* when the axis is not specified\. .* has ndim (\d+)", "`take` without axis gets rank {0}"),
    (r"The input (\w+) length is expected to be \d+\. However, the given \w+ is \(\)", "`{0}` is empty"),
    (r"^Check failed: \*?indices?_\w+ >= 1 \(0 vs\. 1\)", "an index has a size of 0"),
    (r"match_cast shape size mismatch", "`match_cast` gets another rank"),
    (r"Input \[Begin=(-?\d+), End=(-?\d+)\] is invalid for axis=(\d+)", "a slice from {0} to {1} is refused"),
    (
        r"cannot broadcast index shapes\. .*: T\.int64\((\d+)\) vs T\.int64\((\d+)\)",
        "indices of sizes {0} and {1}",
    ),
    (
        r"^Reshape expects the new shape .* product (?:T\.int64\()?(\d+)\)?, .* product (?:T\.int64\()?(\d+)\)?$",
        "it reshapes {0} elements to {1}",
        "{0} elements become {1}",
    ),
    (r"^Only one of scales and sizes can be provided", "scales and sizes are both given"),
    (r"^Reshape requires the input new shape to be Shape", "the new shape is a tensor"),
    # programs
    (
        r"Found null pointer node while traversing AST",
        "there is a null pointer in the module",
        "there is a null pointer",
    ),
    (r"^CodeGenVM cannot emit this Relax operator .* call: ([\w.]+)", "`{0}` is not lowered"),
    (r"^CodeGenVM cannot handle this intrinsic now: ([\w.]+)", "`{0}` is not lowered"),
    (r"^emit_te now only supports Tensor that has ShapeExpr shape", "`emit_te` needs a known shape"),
    (r"^object of type 'NoneType' has no len\(\)", "`None` has no length"),
    (r"^Cannot convert \S+ with type <class '(?:\w+\.)*(\w+)'> to `([\w.]+)`", "`{0}` is no `{1}`"),
    (r"'(\w+)' object has no attribute '(\w+)'", "`{0}` has no `{1}`"),
    (r"'(\w+)' object does not support item assignment", "`{0}` takes no item assignment"),
    (
        r"^Mismatched type on argument .* calling: `([\w.]+)\(.* but got `(?:\w+\.)*(\w+)",
        "`{0}` gets `{1}`",
        "it gets `{1}`",
    ),
    (r"requires argument \d+ \((\w+)\) to be a tensor", "`{0}` is no tensor"),
    (r"Arguments to binary operators must be .* which has Type (R\.\w+)", "an operand is `{0}`"),
    (r"^Node cannot handle ShapeExpr inputs", "an input is a shape"),
    (r"^output (\d+) of the compiled function is a shape", "output {0} is a shape"),
    (r"^Cannot cast <class '(\w+)'> to list", "`{0}` is no list"),
    (r"^int\(\) argument must be .*, not '(\w+)'", "`int` gets `{0}`"),
    (r"^unsupported operand type\(s\) for .*: '(\w+)' and '(\w+)'", "operands are `{0}` and `{1}`"),
    (r"^only 0-dimensional arrays can be converted to Python scalars", "an array is no scalar"),
    (r"^Cannot convert infinity to BigInt", "Cannot convert infinity to BigInt", "infinity is no integer"),
    (r"^shape must be a tuple/list", "the shape is no list"),
    (r"^(\w+) expects one input, but got (\d+)", "`{0}` gets {1} inputs", "{1} inputs"),
    (r"The type is not populated", "an expression has no type"),
    (r"when exactly one of the layouts is unknown", "one of two layouts is unknown"),
    (r"There should be a compute block", "there is no compute block"),
    (
        r"^(\w+)\(\): argument '(\w+)' \(position \d+\) must be \w+, not (\w+)",
        "`{0}` gets `{2}` as `{1}`",
        "`{0}` gets `{2}`",
    ),
    (r"^Please convert (\S+) with `const` first", "{0} is no Relax constant"),
    (r"^The input Expr of shape_of should be a Tensor", "`shape_of` gets no tensor"),
    (
        r"^Missing outputs during conversion\. Expected (\d+) but Got (\d+) in (\w+)",
        "`{2}` has {1} of {0} outputs",
        "`{2}` lacks an output",
    ),
    (r"std::bad_alloc", "it asks for too much memory"),
    # other compilers, and their sanitizers
    (r"^runtime error: (([^:]+?) in [\w ]+)$", "{0}", "{1}"),
    (
        r"^LLVM module verification failed with the following errors: (.+?)(?: instruction)?(?: %| store| call|$)",
        "LLVM says: {0}",
        "{0}",
    ),
    (r"^Compilation error: (.+?)(?: \(first use in this function\))?$", "the C compiler says: {0}", "{0}"),
    # exporters and onnxruntime
    (r"We don't have an op for ([\w:]+)", "there is no `{0}`"),
    (r'INTERNAL ASSERT FAILED at "[^"]*?([\w.]+)":\d+', "an assertion fails in {0}"),
    (r"^A mismatch between the number of arguments \((\d+)\) and .* \((\d+)\)", "{0} arguments for {1} descriptors"),
    (r"^ScalarType (\w+) is an unexpected tensor scalar type", "{0} is an unexpected type", "{0} type"),
    (r"^aot_autograd expected to have an entirely functional graph", "the graph is not functional"),
    (r"Type 'tensor\((\w+)\)' of input parameter .* of operator \((\w+)\)", "`{1}` of {0} is invalid"),
    (r"Type parameter .* Optype \((\w+)\) bound to .*tensor\((\w+)\) and tensor\((\w+)\)", "`{0}` of {1} and {2}"),
    (r"Op \((\w+)\) \[\w+InferenceError\] (.+?)\.?$", "`{0}`: {1}", "`{0}` is invalid"),
    (r".*returned while running (\w+) node", "onnxruntime fails at `{0}`"),
)
"""A pattern of messages, with each blank for any blanks, and what such a message says. `{place}` is the function that
raised. Where there are several texts, the fullest is the first."""
