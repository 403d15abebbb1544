"""What stays the same of a sanitizer's report: what it objects to, and the kernel."""

from __future__ import annotations

import pytest

from fuzzer.signature import skeleton

ADDRESS = """=================================================================
==2723==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60a00000007c at pc 0x7fa079b2fecc bp 0x7ffc sp 0x7ffc
WRITE of size 4 at 0x60a00000007c thread T0
    #0 0x7fa079b2fecb in __tvm_ffi_fused_add1_relu /tmp/tmprazxsudm/lib0.c:366
    #1 0x7f277a1d5a3e  (/x/site-packages/tvm_ffi/lib/libtvm_ffi.so+0x1d5a3e)
"""
LIBRARY = """==9==ERROR: AddressSanitizer: negative-size-param: (size=-4)
    #0 0x7f1 in __interceptor_memcpy ../../../../src/libsanitizer/sanitizer_common_interceptors.inc:827
    #1 0x7f2 in fused_add_compute_ /tmp/tmpb/lib0.c:12
"""
UNDEFINED = """/tmp/tmpx/lib0.c:55:17: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented
    #0 0x7f5 in __tvm_ffi_cumsum /tmp/tmpx/lib0.c:55
"""


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (ADDRESS, "AddressSanitizer: heap-buffer-overflow in fused_addN_relu"),
        (LIBRARY, "AddressSanitizer: negative-size-param in fused_add_compute_"),
        (UNDEFINED, "runtime error: signed integer overflow in cumsum"),
        ("==9==ERROR: AddressSanitizer: SEGV on unknown address 0x0\n", "AddressSanitizer: SEGV in no kernel"),
        ("exit status 1: ValueError: no", "exit status N: ValueError: no"),
    ],
)
def test_its_skeleton(report: str, expected: str) -> None:
    assert skeleton(report) == expected
