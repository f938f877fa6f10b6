# SPDX-License-Identifier: BSD-3-Clause
"""A training loop of PyTorch that finds a velocity: the model is a function of few parameters.

    python training.py [--small]

Without PyTorch the program prints so and ends. With matplotlib it draws the models into training.png.
"""

import importlib.util
import sys

import moho
import numpy as np

if importlib.util.find_spec("torch") is None:
    print("PyTorch is needed: pip install torch")
    sys.exit(0)
import moho.torch
import torch

# %% The true velocity: a gradient with a fast lens between shots at the top and receivers at the bottom
small = "--small" in sys.argv
nx, nz, spacing = (51, 41, 15.0) if small else (101, 81, 10.0)
x, z = np.meshgrid(np.arange(nx) * spacing, np.arange(nz) * spacing, indexing="ij")
width, bottom = (nx - 1) * spacing, (nz - 4) * spacing


def lens(amplitude, centre, radius):
    """Velocity of a gradient with a Gaussian lens, m/s."""
    at = torch.tensor(np.stack([x, z])) - centre[:, None, None]
    return 1900.0 + 0.5 * torch.tensor(z) + amplitude * torch.exp(-(at**2).sum(0) / radius**2)


true = lens(torch.tensor(300.0), torch.tensor([0.45 * width, 0.5 * bottom]), torch.tensor(120.0))
line = np.column_stack([np.linspace(0, width, 26), np.full(26, bottom)])
sources = [(at * width, 30.0) for at in ((0.3, 0.7) if small else (0.15, 0.4, 0.6, 0.85))]
dt = 0.0015
shots = moho.Shots(true.numpy(), spacing=spacing, wavelet="ricker:10", time=0.6, dt=dt)
observed = [torch.tensor(shots(source, line).traces) for source in sources]

# %% Amplitude and position of the lens are trained, from a wrong start
amplitude = torch.tensor(100.0, dtype=torch.float64, requires_grad=True)
centre = torch.tensor([0.55 * width, 0.42 * bottom], dtype=torch.float64, requires_grad=True)
optimiser = torch.optim.Adam([{"params": [amplitude], "lr": 20.0}, {"params": [centre], "lr": 10.0}])
scale = sum((one**2).sum() for one in observed)
history = []
for _ in range(20 if small else 40):
    optimiser.zero_grad()
    vp = lens(amplitude, centre, torch.tensor(120.0))
    loss = sum(
        ((moho.torch.shot(shots, source, line, vp) - one) ** 2).sum() / scale
        for source, one in zip(sources, observed)
    )
    loss.backward()
    optimiser.step()
    history.append(loss.item())
print(f"loss {history[0]:.4f} at the start, {history[-1]:.4f} at the end")
print(f"amplitude {amplitude.item():.0f} m/s (true 300)")
print(f"centre {centre.detach().numpy().round()} m (true {[0.45 * width, 0.5 * bottom]})")

# %% True and trained velocity
if importlib.util.find_spec("matplotlib"):
    import matplotlib

    matplotlib.use("Agg")
    import moho.plot

    models = {"true": true.numpy(), "trained": vp.detach().numpy()}
    figure = moho.plot.models({"vp": models}, spacing=spacing, sources=sources, receivers=line)
    figure.savefig("training.png", dpi=100)
