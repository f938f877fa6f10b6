# SPDX-License-Identifier: BSD-3-Clause
"""Shared parts of the programs that time another program alternately with one of moho."""

import datetime
import importlib
import json
import os
import platform
import subprocess
import sys
import tempfile


class PeerError(Exception):
    """An error that the user can repair; the message has one line."""


def processor():
    """Returns Linux's name of the processor."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def damping(np, width, nodes, spacing):
    """Returns the coefficient of u_t along an axis, in s / m^2, as in Devito's examples.

    Layers have `width` nodes. The examples use kilometres per second, metres and milliseconds, hence the
    factor of 1000.
    """
    i = np.arange(nodes)
    depth = (width + 1 - np.minimum(i, nodes - 1 - i)) / width
    strength = 1.5 * np.log(1e3) / (1000.0 * width * spacing)
    return np.where(depth > 1.0 / width, strength * (depth - np.sin(2.0 * np.pi * depth) / (2.0 * np.pi)),
                    0.0)


def prepare(bench, threads, peer="devito"):
    """Checks moho's program and the peer's module and sets the threads of both.

    Returns the cores of this process. It must be called before OpenMP is loaded. `threads` is 0 for the
    number of cores.
    """
    cores = os.sched_getaffinity(0)
    if not os.access(bench, os.X_OK):
        raise PeerError(f"{bench} is no program: build {os.path.basename(bench)}, or name it with --bench")
    os.environ.update(OMP_NUM_THREADS=str(threads or len(cores)), OMP_PROC_BIND="spread", OMP_PLACES="cores",
                      DEVITO_LOGGING="ERROR")
    try:
        importlib.import_module(peer)
    except ImportError as error:
        raise PeerError(f"{sys.executable} has no {error.name}: install {peer}") from None
    return cores


def run_bench(bench, wanted, cores, **variables):
    """Runs a benchmark's cases that match a regular expression; returns the context and the entries.

    `variables` are set in its environment.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "bench.json")
        command = [bench, f"--benchmark_filter={wanted}", f"--benchmark_out={out}"]
        # Devito's OpenMP may have bound this process to a single core
        done = subprocess.run(command, preexec_fn=lambda: os.sched_setaffinity(0, cores), check=False,
                              env={**os.environ, **variables}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise PeerError(f"{bench} exited with status {done.returncode}: {done.stdout.strip()[-400:]}")
        with open(out, encoding="utf-8") as file:
            data = json.load(file)
    return data["context"], data["benchmarks"]


def write_results(out, context, benchmarks, version, peer="devito"):
    """Writes JSON in Google Benchmark's form, without the names of the machine and of the program."""
    context = {key: value for key, value in context.items() if key not in ("host_name", "executable")}
    context.update({
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "processor": processor(), "python": platform.python_version(), peer: version,
    })
    temporary = out + ".part"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump({"context": context, "benchmarks": benchmarks}, file, indent=1)
        file.write("\n")
    os.replace(temporary, out)
    print(f"wrote {out}")
