# SPDX-License-Identifier: BSD-3-Clause
"""Migration of a SEG-Y file: shots as they arrive, images by condition, angle gathers.

    python migration.py [--small]

With matplotlib it draws the image and its gathers into migration.png and angles.png.
"""

import importlib.util
import os
import sys
import tempfile

import moho
import numpy as np

# %% A layered model with a dip, and the smooth model of the migration
small = "--small" in sys.argv
nx, nz, spacing = (81, 51, 20.0) if small else (201, 101, 10.0)
x, z = np.meshgrid(np.arange(nx) * spacing, np.arange(nz) * spacing, indexing="ij")
layered = np.full((nx, nz), 1800.0, np.float32)  # m/s
layered[z > 300 + 0.1 * x] = 2200.0
layered[z > 700 - 0.05 * x] = 2800.0
slowness = 1 / layered
for _ in range(30 if small else 60):
    inner = np.pad(slowness, 1, mode="edge")
    slowness = (inner[:-2, 1:-1] + inner[2:, 1:-1] + inner[1:-1, :-2] + inner[1:-1, 2:]) / 4
smooth = 1 / slowness

# %% A survey in a SEG-Y file, as a contractor would deliver it
wavelet = "ricker:10" if small else "ricker:20"
width = (nx - 1) * spacing
line = np.column_stack([np.linspace(0, width, 81), np.full(81, spacing)])
shots = moho.Shots(layered, spacing=spacing, wavelet=wavelet, time=1.1, interval=0.002)
survey = [shots((at, spacing), line) for at in np.linspace(0.1, 0.9, 4 if small else 16) * width]
path = os.path.join(tempfile.mkdtemp(), "line.sgy")
moho.write_gathers(path, survey)
print(f"{os.path.getsize(path)} bytes of {len(survey)} shots")

# %% Migration: gathers are added in any order, one at a time or together
gathers = moho.read_gathers(path)
columns = (0.3 * width, 0.5 * width, 0.7 * width)
migration = moho.Migration(smooth, gathers, spacing=spacing, wavelet=wavelet, columns=columns)
print(migration.plan)
for gather in gathers:
    migration.add(gather)
image = migration.image()
normalised = migration.image("source")
print(f"{migration.shots} shots were added; image {image.shape}, largest value {np.abs(image).max():.3g}")

# %% Angle gathers at three columns: events are flat where the velocity is right
angles = np.arange(-50.0, 51.0, 2.0)
panels = migration.angle_gathers(angles)
print(f"angle gathers of {panels.shape[0]} columns, {panels.shape[1]} angles, {panels.shape[2]} depths")

# %% The image over the velocity, and the gathers
if importlib.util.find_spec("matplotlib"):
    import matplotlib

    matplotlib.use("Agg")
    import moho.plot

    figure = moho.plot.image(image, smooth, spacing=spacing, receivers=line)
    figure.savefig("migration.png", dpi=100)
    figure = moho.plot.depth_gathers(
        [(panels, angles[0], 2.0, "Angle (degrees)")],
        titles=[f"x = {at:.0f} m" for at in columns],
        spacing=spacing,
    )
    figure.savefig("angles.png", dpi=100)
