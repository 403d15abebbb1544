"""How much of TVM's converter tables the generated programs reach, and why not the rest.

`measure` draws small programs of each operator, `worker` has a child look at what they export to
(`fuzzer.children.coverage`), `reasons` knows why a key is not reached, `report` says it.
"""
