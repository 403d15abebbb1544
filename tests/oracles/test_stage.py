"""The order of the stages."""

from __future__ import annotations

from oracles.stage import Stage


def test_an_onnx_file_is_verified_between_export_and_import() -> None:
    assert Stage.VERIFY.is_after(Stage.EXPORT)
    assert Stage.IMPORT.is_after(Stage.VERIFY)
    assert not Stage.IMPORT.is_after(Stage.IMPORT)


def test_every_stage_has_its_place() -> None:
    later = {stage: sum(other.is_after(stage) for other in Stage) for stage in Stage}
    assert sorted(later.values()) == list(range(len(Stage)))
    assert (later[Stage.RUN], later[Stage.START]) == (0, len(Stage) - 1)
