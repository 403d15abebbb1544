"""Read the weights of a .pt2 file: `python -m fuzzer.seeds.torch.pt2_weights FILE PARENT`
(`fuzzer.seeds.own_weights`)."""

from __future__ import annotations

import sys
from pathlib import Path

from fuzzer.seeds import own_weights
from fuzzer.seeds.bounded_child import limit_child
from fuzzer.seeds.torch import pt2


def main() -> None:
    path = Path(sys.argv[1])
    with limit_child(int(sys.argv[2]), own_weights.limits_of_child(path)) as answers:
        answers.write(own_weights.answer(path, pt2.weights))


if __name__ == "__main__":
    main()
