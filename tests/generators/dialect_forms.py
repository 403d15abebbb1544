"""The forms of each dialect."""

from generators.graph import Form

TORCH_FORMS = {Form.PLAIN, Form.FUNCTION, Form.METHOD, Form.OPERATOR, Form.INPLACE, Form.MODULE}
ONNX_FORMS = set(Form) - TORCH_FORMS | {Form.PLAIN}
