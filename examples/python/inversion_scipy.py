# SPDX-License-Identifier: BSD-3-Clause
"""Full-waveform inversion with an optimiser of SciPy, and the same with moho's search.

    python inversion_scipy.py [--small]

Without SciPy the program prints so and ends. With matplotlib it draws the models into inversion_scipy.png.
"""

import importlib.util
import sys

import moho
import numpy as np

if importlib.util.find_spec("scipy") is None:
    print("SciPy is needed: pip install scipy")
    sys.exit(0)
from scipy.optimize import Bounds, minimize

# %% A true model with a lens, shots at the surface, receivers at the surface and at depth
small = "--small" in sys.argv
nx, nz, spacing = (61, 41, 15.0) if small else (121, 81, 10.0)
start = np.full((nx, nz), 2000.0, np.float32)  # m/s
true = start.copy()
true[nx // 3 : 2 * nx // 3, nz // 3 : nz // 2] += 200.0
width, bottom = (nx - 1) * spacing, (nz - 3) * spacing
top = np.column_stack([np.linspace(0, width, 31), np.full(31, 20.0)])
receivers = np.vstack([top, np.column_stack([top[:, 0], np.full(31, bottom)])])
waves = {"spacing": spacing, "wavelet": "ricker:10"}
shots = moho.Shots(true, time=0.7, interval=0.002, **waves)
gathers = [shots((at, 20.0), receivers) for at in np.linspace(0.1, 0.9, 3 if small else 6) * width]

# %% The objective is a function of the variables of the model: misfit and gradient
objective = moho.Objective(start, gathers, bounds={"vp": (1800.0, 2400.0)}, **waves)
misfit, gradient = objective(objective.start)
print(f"{gradient.size} variables, misfit {misfit:.4f}, gradient {np.linalg.norm(gradient):.3g}")

# %% L-BFGS-B of SciPy
iterations = 3 if small else 12
found = minimize(
    objective,
    objective.start,
    jac=True,
    method="L-BFGS-B",
    bounds=Bounds(*objective.bounds),
    options={"maxiter": iterations},
)
vp = objective.model(found.x)["vp"]
print(f"SciPy: misfit {found.fun:.4f} after {found.nfev} evaluations")

# %% The search of moho evaluates with the same function; iterate over it
search = objective.search(iterations=iterations)
last = list(search)[-1]
own = search.model()["vp"]
print(f"moho: misfit {last.misfit:.4f} after {last.evaluation} evaluations")
before = np.linalg.norm(start - true)
for name, model in (("SciPy", vp), ("moho", own)):
    print(f"{name}: error {100 * np.linalg.norm(model - true) / before:.0f} % of that of the start")

# %% The models
if importlib.util.find_spec("matplotlib"):
    import matplotlib

    matplotlib.use("Agg")
    import moho.plot

    models = {"true": true, "SciPy": vp, "moho": own}
    figure = moho.plot.models({"vp": models}, spacing=spacing, receivers=receivers)
    figure.savefig("inversion_scipy.png", dpi=100)
