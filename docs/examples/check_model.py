"""Check that TVM compiles a model as PyTorch runs it: `python docs/examples/check_model.py`."""

import torch

import difftvm


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.last = torch.nn.Linear(4 * 6 * 6, 5)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.last(torch.relu(self.conv(image)).flatten(1))


if __name__ == "__main__":
    checked = difftvm.check(Net().eval(), torch.randn(1, 3, 8, 8), passes=["FuseOps"])
    print(f"right in {', '.join(checked.ran)}; not covered: {', '.join(checked.not_covered) or 'nothing'}")
