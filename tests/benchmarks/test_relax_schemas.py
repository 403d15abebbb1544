"""generators/relax/schemas.json, which `make docs` writes, has what TVM's registry says."""

from __future__ import annotations

from generators.relax.schema import schemas


def test_an_operator_has_its_arguments_and_the_parameters_of_its_function() -> None:
    found = schemas()["nn.attention_bias"]
    assert (found.function, found.legalized) == ("nn.attention", True)
    assert [name for name, _ in found.arguments] == ["query", "key", "value", "bias"]
    assert found.parameters[:5] == ("query", "key", "value", "bias", "scale")
    assert found.defaults["scale"] is None
    assert not schemas()["ewise_fma"].legalized
