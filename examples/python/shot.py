# SPDX-License-Identifier: BSD-3-Clause
"""A shot over a layered model with a free surface, and over the same model with VTI layers.

    python shot.py [--small]

With matplotlib it draws both gathers into shot.png.
"""

import importlib.util
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

# %% Both gathers
if importlib.util.find_spec("matplotlib"):
    import matplotlib

    matplotlib.use("Agg")
    import moho.plot

    panels = {"isotropic": gather, "VTI layer": other}
    moho.plot.gathers(panels).savefig("shot.png", dpi=100)
