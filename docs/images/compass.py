#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws compass_migration.png: images of one survey by several models, below the velocity.

usage: compass.py VELOCITY.npy SPACING OUT.png TITLE=IMAGE.npy ...
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__.strip().splitlines()[-1])
    velocity, spacing = np.load(sys.argv[1]), float(sys.argv[2])
    extent = [0, 1e-3 * spacing * (velocity.shape[0] - 1), 1e-3 * spacing * (velocity.shape[1] - 1), 0]
    images = [one.split("=", 1) for one in sys.argv[4:]]
    figure, axes = plt.subplots(1 + len(images), 1, figsize=(7, 2.9 * (1 + len(images))), sharex=True,
                                constrained_layout=True)
    drawn = axes[0].imshow(velocity.T, extent=extent, aspect="auto", cmap="viridis")
    figure.colorbar(drawn, ax=axes[0], label="velocity, m/s")
    axes[0].set_title("velocity along the axis of symmetry")
    for ax, (title, path) in zip(axes[1:], images):
        image = np.load(path)
        # the shallow part is that of the sources
        most = np.percentile(np.abs(image[:, image.shape[1] // 5:]), 98)
        drawn = ax.imshow(image.T, extent=extent, aspect="auto", cmap="gray", vmin=-most, vmax=most)
        figure.colorbar(drawn, ax=ax, label="image")
        ax.set_title(title)
    for ax in axes:
        ax.set_ylabel("depth, km")
    axes[-1].set_xlabel("x, km")
    figure.savefig(sys.argv[3], dpi=90)


if __name__ == "__main__":
    main()
