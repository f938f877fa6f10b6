# SPDX-License-Identifier: BSD-3-Clause
"""Models, programs of the build and processes for tests of the Python package."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import moho
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
    if "cuda" in moho.build()["spaces"]:  # where the package computes with arrays of the host
        command += ["--space", "openmp"]
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


def seconds_to_interrupt(work, after=1.0):
    """Interrupts a function as Ctrl-C does; returns the seconds until KeyboardInterrupt."""
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)
    timer.start()
    try:
        work()
    except KeyboardInterrupt:
        return time.monotonic() - sent[0]
    finally:
        timer.join()
    raise AssertionError("the work ended before the interrupt")
