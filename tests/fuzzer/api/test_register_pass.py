"""What a preloaded file may register, in a process with TVM."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.tvm


def test_a_function_and_a_pass_of_tvm_are_registered_under_the_name() -> None:
    import tvm

    from fuzzer.api.own_passes import register_pass
    from fuzzer.lanes.relax.own_passes import missing

    module = tvm.IRModule({})
    for name, rewrite in (
        ("same.1", lambda mod: mod),
        ("fold.1", "FoldConstant"),
        ("zero.1", "relax.transform.Normalize"),
    ):
        lane = (f"own:{name}:idempotent", "FoldConstant")
        assert missing(lane) == (
            f"no pass is registered as {name!r} in this process: give the file that registers it with --preload"
        )
        register_pass(name, rewrite)
        assert missing(lane) is None
        assert isinstance(tvm.get_global_func(f"difftvm.own_pass.{name}")(module), tvm.IRModule)


@pytest.mark.parametrize(
    ("name", "rewrite", "says"),
    [
        ("a b", "FoldConstant", "'a b' is no name for a pass: it has letters, digits, '_', '.' and '-', at most 60"),
        ("a", "Nonsense", "'Nonsense' is neither a pass of relax.transform nor a global function that makes a pass"),
        ("a", 3, "the pass 'a' is of the type int, which cannot be called with a module"),
    ],
)
def test_anything_else_is_refused(name: str, rewrite: object, says: str) -> None:
    from fuzzer.api.own_passes import register_pass

    with pytest.raises(ValueError, match="pass") as error:
        register_pass(name, rewrite)  # type: ignore[arg-type]
    assert str(error.value) == says
