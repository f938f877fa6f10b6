# SPDX-License-Identifier: BSD-3-Clause
"""Densities from gravity and a gradient: a smooth and a compact model of a dipping body.

    python gravity_inversion.py [--small]

With matplotlib it draws the densities into gravity_inversion.png.
"""

import importlib.util
import sys

import moho
import numpy as np

# %% A dipping body of 400 kg/m3 in a mesh, and stations 20 m above the columns of its cells
small = "--small" in sys.argv
nx, ny, nz, size = (12, 12, 6, 100.0) if small else (24, 24, 12, 50.0)
mesh = (nx, ny, nz, 0, nx * size, 0, ny * size, 0, nz * size)
z, y, x = np.meshgrid(*(size * (np.arange(n) + 0.5) for n in (nz, ny, nx)), indexing="ij")
body = (np.abs(x - z - 300) < 110) & (np.abs(y - 600) < 300) & (z > 100) & (z < 450)
true = np.where(body, 400.0, 0.0)
north, east = np.meshgrid(size * (np.arange(nx) + 0.5), size * (np.arange(ny) + 0.5))
stations = np.column_stack([north.ravel(), east.ravel(), np.full(nx * ny, -20.0)])

# %% Data with errors and a regional trend in gz
names, errors = "gz,gzz", np.array([0.02, 0.5])  # mGal, Eotvos
field = moho.gravity(mesh=mesh, densities=true, stations=stations, components=names)
data = field + errors[:, None] * np.random.default_rng(2).normal(size=field.shape)
data[0] += 3.0 + 0.0015 * stations[:, 0] - 0.0008 * stations[:, 1]

# %% Inversion: the trend is removed by projection, densities stay within bounds
found = moho.invert_gravity(
    data,
    stations=stations,
    errors=errors,
    components=names,
    mesh=mesh,
    trend={"gz": 1},
    bounds=(0, 400),
    compact=20,
    callback=lambda step: print(f"{step.stage}: beta {step.beta:.3g}, chi2 {step.chi2:.3f}"),
)
print(f"ended: {found.reason}; by Fourier transforms: {found.lattice}")
for name, model in (("smooth", found.smooth_model), ("compact", found.model)):
    correlation = (model * true).sum() / np.sqrt((model**2).sum() * (true**2).sum())
    print(f"{name}: correlation with the true densities {correlation:.2f}")

# %% Sections of the densities
if importlib.util.find_spec("matplotlib"):
    import matplotlib

    matplotlib.use("Agg")
    import moho.plot

    models = {"true": true, "smooth": found.smooth_model, "compact": found.model}
    moho.plot.densities(models, mesh=mesh).savefig("gravity_inversion.png", dpi=100)
