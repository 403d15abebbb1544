"""The change of TVM in the small project, for the worse: tanh forgets its work on tensors of rank 3."""

from tvm import relax
from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter

create = ExportedProgramImporter.create_convert_map


def tanh(importer, node):
    x = importer.env[node.args[0]]
    if len(importer.shape_of(x)) == 3:
        return x
    return importer.block_builder.emit(relax.op.tanh(x))


def create_convert_map(self):
    return {**create(self), "tanh.default": lambda node: tanh(self, node)}


ExportedProgramImporter.create_convert_map = create_convert_map
