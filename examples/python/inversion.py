# SPDX-License-Identifier: BSD-3-Clause
"""Migration and full-waveform inversion of the shots of a small model.

    python inversion.py [--small]

With matplotlib it draws the models and the image into inversion.png and image.png.
"""

import importlib.util
import sys

import moho
import numpy as np

# %% A true model with a lens above a reflector, and the smooth model that is known
small = "--small" in sys.argv
nx, nz, spacing = (61, 41, 15.0) if small else (161, 81, 10.0)
start = np.full((nx, nz), 2000.0, np.float32)  # m/s
true = start.copy()
true[nx // 3 : 2 * nx // 3, nz // 3 : nz // 2] += 150.0
true[:, 3 * nz // 4 :] += 300.0
width = (nx - 1) * spacing
line = np.column_stack([np.linspace(0.0, width, 41), np.full(41, 20.0)])
receivers = np.vstack([line, np.column_stack([line[:, 0], np.full(41, (nz - 3) * spacing)])])
waves = {"spacing": spacing, "wavelet": "ricker:10"}

# %% The data: gathers of the true model, with receivers near the surface and at depth
shots = moho.Shots(true, time=0.8, interval=0.002, **waves)
gathers = [shots((x, 20.0), receivers) for x in np.linspace(0.1, 0.9, 3 if small else 8) * width]

# %% Migration shows where the model changes
migration = moho.Migration(start, gathers, **waves)
migration.add(gathers)
image = migration.image()
print(f"migrated {migration.shots} shots with snapshots as {migration.storage}")

# %% Inversion finds the values: low frequencies first
objective = moho.Objective(start, gathers, bounds={"vp": (1800.0, 2500.0)}, bands=(8.0, 15.0), **waves)
search = objective.search(iterations=2 if small else 8)
for evaluation in search:
    print(f"{evaluation.frequency:4.0f} Hz, evaluation {evaluation.evaluation}: {evaluation.relative:.4f}")
vp = search.model()["vp"]
before, after = (np.linalg.norm(model - true) for model in (start, vp))
print(f"error of the model: {100 * after / before:.0f} % of that of the start")

# %% The models and the image
if importlib.util.find_spec("matplotlib"):
    import matplotlib

    matplotlib.use("Agg")
    import moho.plot

    models = {"true": true, "start": start, "inversion": vp}
    moho.plot.models({"vp": models}, spacing=spacing, receivers=receivers).savefig("inversion.png", dpi=100)
    moho.plot.image(image, start, spacing=spacing, receivers=line).savefig("image.png", dpi=100)
