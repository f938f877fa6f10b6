# SPDX-License-Identifier: BSD-3-Clause
"""A tilted medium of 16 x 16 x 16 km by formula, as bench_expand has it: model.py N FOLDER writes vp, epsilon, delta, theta,
phi for migration and true_vp, which has beds besides, as .npy of N x N x N nodes (x, y, z)."""
import sys, numpy as np

n, folder = int(sys.argv[1]), sys.argv[2]
f = np.float32
s = np.linspace(0, 1, n, dtype=f)
x, y, z = s[:, None, None], s[None, :, None], s[None, None, :]
wave = f(9) * x + f(2) * y
depth = f(0.03) * np.sin(wave) * np.where(z < 0.25, 4 * z, 1).astype(f) + z
floor = f(0.06) + f(0.01) * np.sin(5 * x) * np.cos(4 * y)
depth -= floor
water = z < floor
v = (z - f(0.42) - f(0.02) * np.sin(29 * x) * np.cos(23 * y)) / f(0.13)
salt = ((x - f(0.56)) / f(0.2)) ** 2 + v * v + ((y - f(0.48)) / f(0.16)) ** 2 < 1
del v
def save(name, values):
    np.save(f"{folder}/{name}.npy", values)
def speed(values):
    np.minimum(values, f(4300), out=values)
    values[salt] = 4500
    np.copyto(values, f(1500), where=water)
    return values
save("vp", speed(f(1750) + f(2700) * depth))
save("true_vp", speed(f(1750) + f(2700) * depth + f(120) * np.sin(f(125) * depth)))
strength = f(0.08) + f(0.12) * np.minimum(depth, f(1))
strength[salt | water] = 0
save("epsilon", strength)
save("delta", f(0.5) * strength)
del strength, depth, salt, water
slope = np.cos(wave)
flat = np.zeros((n, n, n), dtype=f)
save("theta", flat + np.arctan(np.sqrt(f(0.27 ** 2 + 0.06 ** 2)) * np.abs(slope)))
save("phi", flat + np.arctan2(f(0.06) * slope, f(0.27) * slope))
