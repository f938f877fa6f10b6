# SPDX-License-Identifier: BSD-3-Clause
"""Models, programs of the build and processes for tests of the Python package."""

import os
import subprocess
import sys
import textwrap

import numpy as np

PROGRAMS = os.environ["MOHO_PROGRAMS"]


def gradient(*shape, dtype=np.float32, slope=8.0):
    """Velocity 1500 m/s + slope per node of depth."""
    return np.broadcast_to((1500.0 + slope * np.arange(shape[-1])).astype(dtype), shape).copy()


def rough(*shape, dtype=np.float32, seed=1):
    """A velocity that differs from node to node, 1500 to 2500 m/s."""
    return np.random.default_rng(seed).uniform(1500.0, 2500.0, shape).astype(dtype)


def run_program(name, folder, *options):
    """Runs a program of the build with one thread; results are in the folder."""
    command = [os.path.join(PROGRAMS, name), *map(str, options), "--out", str(folder), "--no-plot"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {done.stderr}")


def run_python(code, **variables):
    """Runs a Python program in a separate process."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | variables,
    )
