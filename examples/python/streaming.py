# SPDX-License-Identifier: BSD-3-Clause
"""Gradients that stream through a small memory, with the bits of those that do not.

python streaming.py [--small]
"""

import sys

import moho
import numpy as np

# %% A model whose wavefields are taken plane by plane through `device_memory`
small = "--small" in sys.argv
nx, nz, spacing = (121, 61, 10.0) if small else (601, 201, 10.0)
start = np.broadcast_to(np.linspace(1600, 2600, nz, dtype=np.float32), (nx, nz)).copy()  # m/s
true = start.copy()
true[nx // 2 - 10 : nx // 2 + 10, nz // 2 : nz // 2 + 10] += 200.0
line = np.column_stack([np.linspace(0, (nx - 1) * spacing, 41), np.full(41, 20.0)])
waves = {"spacing": spacing, "wavelet": "ricker:12"}
shots = moho.Shots(true, time=0.5, interval=0.002, **waves)
gathers = [shots(((nx - 1) * spacing * part, 20.0), line) for part in (0.3, 0.7)]

# %% The source wavefield is reversed behind random layers, in memory and streamed
options = {"source_field": "random", "gradient_steps": 2, **waves}
in_memory = moho.Objective(start, gathers, **options)
misfit, gradient = in_memory(in_memory.start)
budget = 900_000 if small else 4_000_000  # bytes of wavefields that are at hand
streamed = moho.Objective(start, gathers, device_memory=budget, **options)
other, same = streamed(streamed.start)
print(f"misfit {misfit:.6f} in memory, {other:.6f} streamed through {budget} bytes")
equal = gradient.tobytes() == same.tobytes()
print(f"streamed: {streamed.streamed}; the gradients have the same bits: {equal}")

# %% Snapshots of fields that do not fit are compressed: a wavefield within 1e-3 of its largest value
packed = moho.compress(gradient.reshape(nx, nz), "max:1e-3")
print(f"the gradient in {len(packed)} bytes, {4 * gradient.size / len(packed):.1f} times less than float32")
error = np.abs(moho.decompress(packed) - gradient.reshape(nx, nz)).max() / np.abs(gradient).max()
print(f"largest error {error:.1e} of the largest value")
