# SPDX-License-Identifier: BSD-3-Clause
"""Models, programs of the build and processes for tests of the Python package."""

import os
import signal
import subprocess
import sys
import tempfile
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


def expect_bits_of_model_gravity(test, compute, files, options, names, at, **arguments):
    """Expects of compute(stations=at, components=names, **arguments) the bits of the program.

    files: arrays of options that name a file. Returns the fields, (names, stations).
    """
    with tempfile.TemporaryDirectory() as folder:
        for option, values in {"stations": at, **files}.items():
            np.save(f"{folder}/{option}.npy", values)
            options = [*options, f"--{option}", f"{folder}/{option}.npy"]
        run_program("model_gravity", f"{folder}/out", "--components", ",".join(names), *options)
        expected = np.array([np.load(f"{folder}/out/{name}.npy").ravel() for name in names])
    found = compute(stations=at, components=names, **arguments)
    test.assertEqual((found.shape, found.dtype), ((len(names), len(at)), np.float64))
    test.assertEqual(found.tobytes(), expected.tobytes())
    return found


def run_python(code, **variables):
    """Runs a Python program in a separate process."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | variables,
    )


def long_gather():
    """A gather of 40 s: a step with it lasts for many seconds."""
    traces = np.random.default_rng(1).normal(size=(3, 10001)).astype(np.float32)
    return moho.Gather(traces, 0.004, np.array([(500.0, 20.0)]), np.full((3, 2), 300.0))


def expect_interrupt(test, work, after=1.0, within=1.0):
    """Interrupts a function as Ctrl-C does, after some seconds; expects its end within others."""
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)
    timer.start()
    try:
        with test.assertRaises(KeyboardInterrupt):
            work()
        test.assertLess(time.monotonic() - sent[0], within, "s after the signal")
    finally:
        timer.cancel()
        timer.join()


def expect_progress_to_end(test, work):
    """Expects that an exception of a progress function ends work(progress=function)."""

    class Enough(Exception):
        pass

    def stop(fraction, text):
        raise Enough

    with test.assertRaises(Enough):
        work(progress=stop)
