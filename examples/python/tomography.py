# SPDX-License-Identifier: BSD-3-Clause
"""Traveltime tomography between two boreholes: rays, their matrix, and damped least squares.

    python tomography.py [--small]

Without SciPy the program prints so and ends. With matplotlib it draws the velocities into tomography.png.
"""

import importlib.util
import sys

import moho
import numpy as np

try:
    from scipy.ndimage import gaussian_filter
    from scipy.sparse.linalg import LinearOperator, lsqr
except ImportError:
    print("SciPy is needed: pip install scipy")
    sys.exit(0)

# %% The medium: 2500 m/s with a slow and a fast body. Sources on the left, receivers on the right
small = "--small" in sys.argv
nx, nz, spacing = (31, 41, 10.0) if small else (61, 81, 5.0)
x, z = np.meshgrid(np.arange(nx) * spacing, np.arange(nz) * spacing, indexing="ij")
true = (
    2500.0
    - 250.0 * np.exp(-((x - 150) ** 2 + (z - 130) ** 2) / 50**2)
    + 300.0 * np.exp(-((x - 160) ** 2 + (z - 290) ** 2) / 60**2)
)
depths = np.linspace(0, z.max(), 12 if small else 30)
sources = np.column_stack([np.zeros_like(depths), depths])
receivers = np.column_stack([np.full_like(depths, x.max()), depths])
geometry = {"spacing": spacing, "sources": sources, "receivers": receivers}
observed = moho.trace_rays(true, **geometry).traveltimes.ravel()

# %% Three linearised steps: the matrix is the derivative of the times by the slowness at the nodes
slowness = np.full((nx, nz), 1 / 2500.0)  # s/m


def smooth(values):
    """Correlates the unknowns over 20 m; symmetric, so that it is its own transpose."""
    return gaussian_filter(values.reshape(nx, nz), 20.0 / spacing, mode="constant").ravel()


for step in range(3):
    rays = moho.trace_rays(1 / slowness, **geometry)
    residual = observed - rays.traveltimes.ravel()
    print(f"step {step}: rms residual {1e3 * np.sqrt(np.mean(residual**2)):.4f} ms")
    matrix = rays.matrix()
    system = LinearOperator(
        matrix.shape, matvec=lambda v, a=matrix: a @ smooth(v), rmatvec=lambda r, a=matrix: smooth(a.T @ r)
    )
    slowness += smooth(lsqr(system, residual, damp=10.0, iter_lim=100)[0]).reshape(nx, nz)
residual = observed - moho.trace_rays(1 / slowness, **geometry).traveltimes.ravel()
print(f"at the end: rms residual {1e3 * np.sqrt(np.mean(residual**2)):.4f} ms")

# %% The velocity that was found, against the true one
before, after = np.sqrt(np.mean((2500 - true) ** 2)), np.sqrt(np.mean((1 / slowness - true) ** 2))
print(f"rms error of the velocity: {before:.0f} m/s before, {after:.0f} m/s after")

# %% Both velocities
if importlib.util.find_spec("matplotlib"):
    import matplotlib

    matplotlib.use("Agg")
    import moho.plot

    models = {"true": true, "found": 1 / slowness}
    figure = moho.plot.models({"vp": models}, spacing=spacing, sources=sources, receivers=receivers)
    figure.savefig("tomography.png", dpi=100)
