#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Largest eigenvalues of a step of variable density on one line of nodes with perfectly matched layers.

usage: eigenvalues.py > eigenvalues.json

Order 8, 41 nodes of 10 m with 2000 m/s, layers at both ends, peak frequency 10 Hz, 24 models of random
densities for each width and ratio: of two densities and of logarithmically uniform ones in turn, the first
with alternate nodes. "plain" has the potential (L s) / s in the layers as well, "stretched" that of the
library (moho/wave/detail/potential.hpp). Numbers are the largest magnitude of an eigenvalue less 1.
"""

import json
from math import factorial

import numpy as np

RADIUS, H, V, FREQUENCY, NODES = 4, 10.0, 2000.0, 10.0, 41
DT = 0.5 * H / V / 1.3


def second():
    c = [0.0] + [2 * (-1) ** (k + 1) * factorial(RADIUS) ** 2
                 / (k * k * factorial(RADIUS - k) * factorial(RADIUS + k)) for k in range(1, RADIUS + 1)]
    return [-2 * sum(c), *c[1:]]


SLOPE = (0.0, 2.0 / 3.0, -1.0 / 12.0)  # first derivative of fourth order


def shifted(values, k, fill):
    """values[i + k], with `fill` beyond the ends ("edge": the nearest value)."""
    padded = np.pad(values, 4, mode="edge") if fill == "edge" else np.pad(values, 4)
    return padded[4 + k:4 + k + len(values)]


def slope_of(values, fill):
    return sum(SLOPE[k] * (shifted(values, k, fill) - shifted(values, -k, fill)) for k in (1, 2)) / H


def step(width, inside, stretched):
    """Returns the matrix of a step of (q, previous q, psi, zeta)."""
    s = np.pad(inside, width, mode="edge")
    n, c = len(s), second()
    eye = np.eye(n)
    laplacian = sum(c[abs(k)] * np.eye(n, k=k) for k in range(-RADIUS, RADIUS + 1)) / H ** 2
    slope = sum(SLOPE[k] * (np.eye(n, k=k) - np.eye(n, k=-k)) for k in (1, 2)) / H
    a, b = np.zeros(n), np.zeros(n)
    thick = width >= 15
    strongest = -3 * V * np.log(1e-6 if thick else 2e-5) / (2 * width * H)
    for i in range(width):
        u = (i + 1) / width
        damping, shift = strongest * u * u, (0.5 if thick else 0.75) * np.pi * FREQUENCY / 2.5 * (1 - u)
        for j in (width - 1 - i, n - width + i):
            b[j] = np.exp(-(damping + shift) * DT)
            a[j] = damping / (damping + shift) * (b[j] - 1)
    along = sum(c[abs(k)] * shifted(s, k, "edge") for k in range(-RADIUS, RADIUS + 1)) / H ** 2
    potential = along / s
    if stretched:
        g = np.where(a != 0, a / (1 - b), 0.0)
        potential = (1 + g) * (along + slope_of(g * slope_of(s, "edge"), "zero")) / s
        potential = np.where((a != 0) & (potential < 0), 0.0, potential)
    zero, m = np.zeros((n, n)), (DT * V) ** 2
    psi = [np.diag(a) @ slope, np.diag(b)]  # by q and psi
    change = [slope @ x for x in psi]
    zeta = [np.diag(a) @ (laplacian + change[0]), np.diag(a) @ change[1], np.diag(b)]  # by q, psi, zeta
    q = [2 * eye + m * (laplacian + change[0] + zeta[0] - np.diag(potential)), -eye,
         m * (change[1] + zeta[1]), m * zeta[2]]
    return np.block([q, [eye, zero, zero, zero], [psi[0], zero, psi[1], zero], [zeta[0], zero, *zeta[1:]]])


def main():
    rows = []
    for width in (3, 5, 6, 8, 9, 10, 12, 15, 20):
        for ratio in (1.2, 1.5, 2, 3, 4, 8, 16):
            random, row = np.random.default_rng(5), {"width": width, "ratio": ratio, "plain": 0.0, "stretched": 0.0}
            for model in range(24):
                density = (np.where(random.random(NODES) < 0.5, 1.0, ratio) if model % 2
                           else ratio ** random.random(NODES))
                if model == 0:
                    density = np.where(np.arange(NODES) % 2 == 0, 1.0, ratio)
                for name in ("plain", "stretched"):
                    values = np.linalg.eigvals(step(width, density ** -0.5, name == "stretched"))
                    row[name] = max(row[name], float(np.abs(values).max()) - 1.0)
            rows.append(row)
    print(json.dumps({"rows": rows}, indent=1))


if __name__ == "__main__":
    main()
