# SPDX-License-Identifier: BSD-3-Clause
"""A refraction survey: picks with errors, their inversion, and how well the model is determined.

    python picks.py [--small]

With matplotlib it draws velocity, rays and deviation into picks.png.
"""

import importlib.util
import sys

import moho
import numpy as np

# %% Weathered rock over a slope of fast rock, and a line of geophones 5 m apart
small = "--small" in sys.argv
spacing = 2.0 if small else 1.0
x, z = np.meshgrid(np.arange(0, 121, spacing), np.arange(0, 31, spacing), indexing="ij")
velocity = np.where(z < 8 + 0.05 * x, 600 + 60 * z, 2600.0)  # m/s
line = np.column_stack([np.arange(0, 121, 5.0), np.zeros(25)])
shots = line[:: 6 if small else 3]

# %% Times of first arrivals with an error of 0.5 ms stand for the picks
times = moho.trace_rays(velocity, spacing=spacing, sources=shots, receivers=line).traveltimes
source, receiver = np.nonzero(times > 0.004)
error = 0.0005  # s
noise = error * np.random.default_rng(1).normal(size=source.size)
errors = np.full(source.size, error)
picks = moho.Picks(shots, line, source, receiver, times[source, receiver] + noise, errors)
print(f"{source.size} picks of {len(shots)} shots")

# %% Inversion until the residuals are as large as the errors: chi2 = 1
found = moho.invert_times(picks, spacing=2.0, topography=None, bounds=(300, 4000), lengths=(20, 8))
for step in found.iterations:
    print(f"iteration {step.iteration}: chi2 {step.chi2:8.2f}, rms {1e3 * step.rms:.2f} ms")
print(f"ended: {found.reason}")

# %% The posterior deviation of ln velocity is small where rays are
covered = found.coverage > 0
inside, outside = found.deviation[covered].mean(), found.deviation[~covered].mean()
print(f"deviation with rays {inside:.2f}, elsewhere {outside:.2f}")

# %% Velocity, coverage and deviation
if importlib.util.find_spec("matplotlib"):
    import matplotlib

    matplotlib.use("Agg")
    import moho.plot

    figure = moho.plot.tomography(
        found.velocity,
        coverage=found.coverage,
        deviation=found.deviation,
        spacing=found.spacing,
        origin=found.origin,
        rays=[found.path(k) for k in range(source.size)],
        sources=shots,
        receivers=line,
    )
    figure.savefig("picks.png", dpi=100)
