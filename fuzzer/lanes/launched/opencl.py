"""Run OpenCL C on this processor: PoCL, called by pyopencl."""

from __future__ import annotations

import os
import re
import tempfile
from typing import Any

from fuzzer.lanes.launched.launch import DeviceLacks, Launch, LaunchFailed, Memory
from fuzzer.lanes.relax.compile_only import Refused

PLATFORM = "Portable Computing Language"
"""The name under which PoCL is listed, among the drivers of real GPUs."""

_ASKED_FOR = re.compile(r"^#ifdef (cl_khr_\w+)", re.M)
"""What TVM writes for each extension that a kernel needs."""

_ERROR = re.compile(r"^(?P<kind>error|warning): \S+\.cl:(?P<place>\d+:\d+:)", re.M)


class Pocl:
    """The processor as a device of OpenCL."""

    known_answer = """
__kernel void known_answer(__global const int* restrict x, __global int* restrict y, int added) {
  __local int shared_x[32];
  shared_x[get_local_id(0)] = x[get_group_id(0) * 32 + get_local_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  y[get_group_id(0) * 32 + get_local_id(0)] = shared_x[31 - get_local_id(0)] + added;
}
"""

    def __init__(self, driver: str) -> None:
        """`driver`: the file by which OpenCL's loader finds PoCL. It loads no other driver."""
        # one thread: then the threads of a kernel run in the same order each time
        os.environ.update(OCL_ICD_VENDORS=driver, POCL_CACHE_DIR=tempfile.mkdtemp(), POCL_MAX_PTHREAD_COUNT="1")
        os.environ.update(PYOPENCL_NO_CACHE="1")
        import pyopencl

        self._cl: Any = pyopencl
        (platform,) = (each for each in pyopencl.get_platforms() if each.name == PLATFORM)
        self.name = platform.version.partition("PoCL ")[2].split()[0]
        self._context = pyopencl.Context(platform.get_devices()[:1])
        self._queue = pyopencl.CommandQueue(self._context)

    def compiled(self, text: str) -> PoclProgram:
        (device,) = self._context.devices
        for extension in _ASKED_FOR.findall(text):
            if extension not in device.extensions.split():
                raise DeviceLacks(f"this device has no {extension}")
        try:
            built = self._cl.Program(self._context, text).build()
        except self._cl.Error as error:
            raise Refused(f"Compilation error, PoCL on .cl:\n{log_in(str(error))}") from None
        return PoclProgram(self._cl, self._queue, built)


def log_in(message: str) -> str:
    """The compiler's log in a message of pyopencl, which also has addresses. The log gets the form of clang's."""
    log = message.partition(">:\n\n")[2].partition("\n(options:")[0] or message
    return _ERROR.sub(r"kernel.cl:\g<place> \g<kind>:", log)


class PoclProgram:
    def __init__(self, cl: Any, queue: Any, built: Any) -> None:
        self._cl, self._queue, self._built = cl, queue, built

    def launch(self, launch: Launch) -> None:
        try:
            self._launch(launch)
        except self._cl.Error as error:
            raise LaunchFailed(f"PoCL cannot launch {launch.kernel}: {error}") from None

    def _launch(self, launch: Launch) -> None:
        """PoCL takes pointers of the processor: kernels use the memory itself."""
        cl, kernel = self._cl, self._cl.Kernel(self._built, launch.kernel)
        for place, argument in enumerate(launch.arguments):
            if isinstance(argument, Memory):
                kernel.set_arg(place, cl.SVM(argument.whole[argument.offset :]))
            else:
                kernel.set_arg(place, argument)
        threads = tuple(blocks * size for blocks, size in zip(launch.grid, launch.block, strict=True))
        cl.enqueue_nd_range_kernel(self._queue, kernel, threads, launch.block)
        self._queue.finish()
