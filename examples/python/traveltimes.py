# SPDX-License-Identifier: BSD-3-Clause
"""First arrivals in a velocity gradient, compared with the analytic traveltimes.

    python traveltimes.py [--small]

With matplotlib it draws the times into traveltimes.png.
"""

import importlib.util
import sys

import moho
import numpy as np

# %% A velocity of 1500 m/s at the surface that increases by 0.8 m/s per m of depth
nx, nz = (101, 51) if "--small" in sys.argv else (801, 301)
spacing = 10.0  # m
x = np.arange(nx) * spacing
z = np.arange(nz) * spacing
velocity = np.broadcast_to(1500.0 + 0.8 * z, (nx, nz)).copy()  # m/s; float64 computes in double precision

# %% Times at all nodes, s
source = (0.5 * x[-1], 0.0)
times = moho.first_arrivals(velocity, spacing=spacing, sources=source)

# %% In this medium rays are arcs, and times have a closed form
distance = np.hypot(x[:, None] - source[0], z[None, :] - source[1])
exact = np.arccosh(1.0 + 0.5 * (0.8 * distance) ** 2 / (1500.0 * velocity)) / 0.8
print(f"largest time {times.max():.4f} s, largest error {1e3 * np.abs(times - exact).max():.4f} ms")

# %% Errors for a coarser grid
coarse = moho.first_arrivals(velocity[::2, ::2], spacing=2 * spacing, sources=source)
ratio = np.abs(coarse - exact[::2, ::2]).max() / np.abs(times - exact).max()
print(f"errors for twice the spacing are {ratio:.1f} times as large")

# %% Contours of the times over the velocity
if importlib.util.find_spec("matplotlib"):
    import matplotlib

    matplotlib.use("Agg")
    import moho.plot

    figure = moho.plot.traveltimes(times, velocity, spacing=spacing, sources=[source])
    figure.savefig("traveltimes.png", dpi=100)
