# SPDX-License-Identifier: BSD-3-Clause
"""Gravity and its gradient over a dense sphere made of prisms, compared with the analytic field.

python gravity.py [--small]
"""

import sys

import moho
import numpy as np

# %% A sphere of 500 m radius, 1000 m deep, in a mesh of cubes; 300 kg/m3 denser than its surroundings
cells = 20 if "--small" in sys.argv else 50
radius, depth, contrast = 500.0, 1000.0, 300.0  # m, m, kg/m3
middles = (np.arange(cells) + 0.5) * (2 * radius / cells) - radius
z, y, x = np.meshgrid(middles, middles, middles, indexing="ij")
densities = np.where(x**2 + y**2 + z**2 < radius**2, contrast, 0.0)  # (nz, ny, nx)
box = (cells, cells, cells, -radius, radius, -radius, radius, depth - radius, depth + radius)

# %% A line of stations at the surface, z down
line = np.linspace(-3000.0, 3000.0, 121)
stations = np.column_stack([line, np.zeros_like(line), np.zeros_like(line)])
gz, gzz = moho.gravity(mesh=box, densities=densities, stations=stations, components=["gz", "gzz"])

# %% Outside, the field of a sphere is that of a point mass
mass = densities.sum() * (2 * radius / cells) ** 3
distance = np.hypot(line, depth)
exact = 6.6743e-11 * mass * depth / distance**3 * 1e5  # mGal
print(f"largest gz {gz.max():.4f} mGal, largest gzz {gzz.max():.3f} Eotvos")
print(f"largest difference from the point mass {100 * np.abs(gz - exact).max() / exact.max():.3f} %")
