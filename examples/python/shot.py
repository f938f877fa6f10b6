# SPDX-License-Identifier: BSD-3-Clause
"""A shot over a layered model with a free surface, and over the same model with VTI layers.

    python shot.py [--small]

With matplotlib it draws both gathers into shot.png.
"""

import sys

import moho
import numpy as np

# %% Layers of 1500, 2000 and 2800 m/s; a source and a line of receivers 20 m below the surface
small = "--small" in sys.argv
nx, nz, spacing = (161, 101, 15.0) if small else (401, 201, 10.0)
depth = np.arange(nz) * spacing
vp = np.full((nx, nz), 1500.0, np.float32)  # m/s; float32 computes in single precision
vp[:, depth >= 400.0] = 2000.0
vp[:, depth >= 1000.0] = 2800.0
width = (nx - 1) * spacing
source = (0.5 * width, 20.0)
receivers = np.column_stack([np.linspace(0.0, width, 101), np.full(101, 20.0)])

# %% What all shots over the model share is prepared once: time step, layers, wavefield
options = {"spacing": spacing, "wavelet": "ricker:10", "time": 1.5, "interval": 0.002, "free_surface": True}
shots = moho.Shots(vp, **options)
print(f"{shots.medium}: {shots.steps} steps of {1e3 * shots.dt:.3f} ms, faces {shots.faces}")
gather = shots(source, receivers)

# %% Thomsen's parameters make the second layer VTI: its reflections arrive earlier at large offsets
epsilon = np.where(vp == 2000.0, 0.2, 0.0)
delta = 0.5 * epsilon
anisotropic = moho.Shots(vp, epsilon=epsilon, delta=delta, sources=source, **options)
other = anisotropic(source, receivers)
difference = np.linalg.norm(other.traces - gather.traces) / np.linalg.norm(gather.traces)
print(f"{anisotropic.medium}: the gathers differ by {100 * difference:.1f} %")

# %% The gathers, without matplotlib in the small run
if small:
    sys.exit(0)
try:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
except ImportError:
    sys.exit(0)
figure, axes = pyplot.subplots(1, 2, sharey=True, figsize=(10, 5), layout="constrained")
for axis, shown, title in ((axes[0], gather, "isotropic"), (axes[1], other, "VTI layer")):
    clip = np.percentile(np.abs(shown.traces), 97)
    extent = (0, width, shown.times[-1], 0)
    axis.imshow(shown.traces.T, cmap="gray", aspect="auto", vmin=-clip, vmax=clip, extent=extent)
    axis.set(title=title, xlabel="receiver (m)")
axes[0].set_ylabel("time (s)")
figure.savefig("shot.png", dpi=120)
print("drawn: shot.png")
