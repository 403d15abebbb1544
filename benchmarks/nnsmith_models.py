"""Write random models of NNSmith as .pt2 files. `comparison.py` runs this with an interpreter that has NNSmith.

    python benchmarks/nnsmith_models.py DIR COUNT SEED

Settings are NNSmith's defaults. Prints how many models were written, how many torch.export refused, and CPU seconds.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path


def main() -> None:
    from nnsmith.abstract.extension import activate_ext  # type: ignore[import-not-found]
    from nnsmith.graph_gen import model_gen  # type: ignore[import-not-found]
    from nnsmith.materialize import Model  # type: ignore[import-not-found]
    from nnsmith.narrow_spec import auto_opset  # type: ignore[import-not-found]

    folder, count, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    kind = Model.init("torch", backend_target="cpu")
    operators = auto_opset(kind, None)
    activate_ext(opset=operators, factory=None)
    began, refused = time.process_time(), 0
    for number in range(seed, seed + count):
        drawn = model_gen(opset=operators, method="symbolic-cinit", seed=number, max_nodes=5, timeout_ms=10000)
        refused += not written(kind.from_gir(drawn.make_concrete()), folder / f"{number}.pt2")
    print(f"{count - refused} models, {refused} refused by torch.export, {time.process_time() - began:.0f} CPU s")


def written(model: object, path: Path) -> bool:
    import torch

    network = model.native_model.eval()  # type: ignore[attr-defined]
    network.debug_numeric = lambda tensors: None  # it looks at values, which an export has none of
    inputs = tuple(torch.ones(each.shape, dtype=each.dtype.torch()) for each in model.input_like.values())  # type: ignore[attr-defined]
    try:
        torch.export.save(torch.export.export(network, inputs), path)
    except Exception:  # whatever PyTorch raises about a model that NNSmith wrote
        return False
    return True


if __name__ == "__main__":
    main()
