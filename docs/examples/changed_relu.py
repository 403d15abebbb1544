"""A change of TVM for the worse: relu forgets its work on tensors of rank 3. `docs/diff.md` compares TVM with it."""

from tvm import relax
from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter

create = ExportedProgramImporter.create_convert_map


def relu(importer, node):
    x = importer.env[node.args[0]]
    if len(importer.shape_of(x)) == 3:
        return x
    return importer.block_builder.emit(relax.op.nn.relu(x))


def create_convert_map(self):
    return {**create(self), "relu.default": lambda node: relu(self, node)}


ExportedProgramImporter.create_convert_map = create_convert_map
