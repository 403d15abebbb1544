"""How much of TVM's converter tables the generated programs reach, and why not the rest.

`measure` draws small programs with each operator. `worker` runs a child (`fuzzer.children.coverage`) that exports them
and reads the keys. `reasons` lists why keys are not reached. `report` prints the result.
"""
