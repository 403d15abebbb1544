"""Run WGSL on this processor: lavapipe, Mesa's Vulkan for processors, called by wgpu-native.

Each kernel that TVM writes is a program of its own. Its bindings are its buffers in the order of its parameters, then a
uniform struct of its numbers. The last field of the struct, `packGridDimX`, is the number of blocks in x.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from fuzzer.lanes.launched.launch import DeviceLacks, Launch, LaunchFailed, Memory
from fuzzer.lanes.relax.compile_only import NEXT_KERNEL, Refused
from generators.graph import Array

MOST_BLOCKS = 65_535
"""The most blocks in one dimension (maxComputeWorkgroupsPerDimension)."""

_ALIGNMENT = "min-storage-buffer-offset-alignment"
"""The limit of where a tensor may begin in a buffer. The device gets that of lavapipe, which is smaller than the 64
bytes that TVM's tensors keep, and not the largest that a device may have."""
_BINDING = re.compile(r"^@group\(0\) @binding\(\d+\) var<(storage, read_write|storage, read|uniform)>", re.M)
_TYPES = {"storage, read_write": "storage", "storage, read": "read-only-storage", "uniform": "uniform"}
_STRUCT = re.compile(r"struct PODArgs \{([^}]*)\}")
_FIELD = re.compile(r"\w+: (i32|u32|f32)")
_FORMATS = {"i32": "i", "u32": "I", "f32": "f"}
_ENTRY = re.compile(r"^fn (\w+)\(", re.M)
_UNIT, _UNIFORM_UNIT = 4, 16
"""The sizes of bindings are multiples of these, in bytes."""


class Lavapipe:
    """The processor as a device of WebGPU."""

    known_answer = """
@group(0) @binding(0) var<storage, read> x : array<i32>;
@group(0) @binding(1) var<storage, read_write> y : array<i32>;
struct PODArgs {
  added: i32,
  packGridDimX: u32
}
@group(0) @binding(2) var<uniform> podArgs : PODArgs;
var<workgroup> shared_x : array<i32, 32>;
@compute @workgroup_size(32, 1, 1)
fn known_answer(
  @builtin(workgroup_id) blockIdx : vec3<u32>,
  @builtin(local_invocation_id) threadIdx : vec3<u32>
) {
  if (blockIdx.x >= podArgs.packGridDimX) { return; }
  shared_x[threadIdx.x] = x[blockIdx.x * 32u + threadIdx.x];
  workgroupBarrier();
  y[blockIdx.x * 32u + threadIdx.x] = shared_x[31u - threadIdx.x] + podArgs.added;
}
"""

    def __init__(self, driver: str) -> None:
        """`driver`: the file by which Vulkan's loader finds lavapipe. It loads no other driver."""
        # one thread: then the threads of a kernel run in the same order each time
        os.environ.update(LP_NUM_THREADS="1", VK_DRIVER_FILES=driver, VK_ICD_FILENAMES=driver)
        import wgpu
        from wgpu.backends.wgpu_native.extras import set_instance_extras

        set_instance_extras(backends=["Vulkan"])

        self._wgpu: Any = wgpu
        adapters = wgpu.gpu.enumerate_adapters_sync()
        adapter = next(each for each in adapters if each.info["device"].startswith("llvmpipe"))
        self.name = str(adapter.info["description"])
        self._has_half = "shader-f16" in adapter.features
        self._device = adapter.request_device_sync(
            required_features=["shader-f16"] if self._has_half else [],
            required_limits={_ALIGNMENT: adapter.limits[_ALIGNMENT]},
        )

    def compiled(self, text: str) -> LavapipeProgram:
        if "enable f16;" in text and not self._has_half:
            raise DeviceLacks("this device computes no f16")
        program = LavapipeProgram(self._wgpu, self._device)
        for part in NEXT_KERNEL.split(text):
            if entry := _ENTRY.search(part):
                program.add(entry[1], part)
        return program


class LavapipeProgram:
    def __init__(self, wgpu: Any, device: Any) -> None:
        self._wgpu, self._device = wgpu, device
        self._texts: dict[str, str] = {}
        self._pipelines: dict[str, Any] = {}

    def add(self, kernel: str, text: str) -> None:
        """Compile a kernel. Raise `Refused`."""
        types = [_TYPES[each] for each in _BINDING.findall(text)]
        compute = self._wgpu.ShaderStage.COMPUTE
        entries = [
            {"binding": place, "visibility": compute, "buffer": {"type": type}} for place, type in enumerate(types)
        ]
        try:
            shader = self._device.create_shader_module(code=text)
            layout = self._device.create_pipeline_layout(
                bind_group_layouts=[self._device.create_bind_group_layout(entries=entries)]
            )
            pipeline = self._device.create_compute_pipeline(
                layout=layout, compute={"module": shader, "entry_point": kernel}
            )
        except self._wgpu.GPUError as error:
            raise Refused(f"Compilation error, wgpu on .wgsl:\n{error}") from None
        self._texts[kernel], self._pipelines[kernel] = text, pipeline

    def launch(self, launch: Launch) -> None:
        if max(launch.grid) > MOST_BLOCKS:
            raise DeviceLacks(f"a grid of more than {MOST_BLOCKS} blocks in one dimension")
        try:
            self._launch(launch)
        except self._wgpu.GPUError as error:
            raise LaunchFailed(f"wgpu cannot launch {launch.kernel}: {error}") from None

    def _launch(self, launch: Launch) -> None:
        device, usage, pipeline = self._device, self._wgpu.BufferUsage, self._pipelines[launch.kernel]
        storage = usage.STORAGE | usage.COPY_SRC | usage.COPY_DST
        wholes = {_address(memory.whole): memory.whole for memory in launch.memories}
        buffers = {
            address: device.create_buffer_with_data(data=_padded(whole), usage=storage)
            for address, whole in wholes.items()
        }
        bound = [_bound(memory, buffers[_address(memory.whole)]) for memory in launch.memories]
        numbers = _packed(self._texts[launch.kernel], [*launch.numbers, launch.grid[0]])
        if numbers:
            uniform = device.create_buffer_with_data(data=numbers, usage=usage.UNIFORM)
            bound.append({"buffer": uniform, "offset": 0, "size": len(numbers)})
        group = device.create_bind_group(
            layout=pipeline.get_bind_group_layout(0),
            entries=[{"binding": place, "resource": resource} for place, resource in enumerate(bound)],
        )
        encoder = device.create_command_encoder()
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(pipeline)
        compute.set_bind_group(0, group)
        compute.dispatch_workgroups(*launch.grid)
        compute.end()
        device.queue.submit([encoder.finish()])
        for address, whole in wholes.items():
            back = np.frombuffer(device.queue.read_buffer(buffers[address]), np.uint8)[: whole.nbytes]
            if whole.tobytes() != back.tobytes():
                whole[:] = back


def _address(whole: Array) -> int:
    return int(whole.ctypes.data)


def _padded(whole: Array) -> Array:
    return np.pad(whole, (0, -whole.nbytes % _UNIT))


def _bound(memory: Memory, buffer: Any) -> dict[str, Any]:
    """The part of a buffer that a kernel sees: from its tensor on. WebGPU lets no kernel access anything else."""
    return {"buffer": buffer, "offset": memory.offset, "size": buffer.size - memory.offset}


def _packed(text: str, numbers: Sequence[Any]) -> bytes:
    """The bytes of the uniform struct, whose fields have four bytes each; none where the kernel has no struct."""
    fields = _STRUCT.search(text)
    if fields is None:
        return b""
    types = _FIELD.findall(fields[1])
    packed = struct.pack("<" + "".join(_FORMATS[type] for type in types), *numbers)
    return packed.ljust(-(-len(packed) // _UNIFORM_UNIT) * _UNIFORM_UNIT, b"\0")
