#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the reflections of absorbing layers: the table of docs/theory/waves.md.

A homogeneous section of 2000 m/s has nodes 10 m apart and a point source 40 nodes from its left face. The
receivers are at the same distance from the face. Their reflections have angles of incidence of 0, 30, 45 and
60 degrees. The reflection of a layer is the difference from a grid that is 160 nodes longer. It is given
relative to the reflection of a rigid face, both by their largest amplitude.

    bench/layer_returns.py build/host/examples/model_waves
    bench/layer_returns.py build/host/examples/model_waves --layers cpml:8,cpml:10,sponge:40  # isotropic
    bench/layer_returns.py --devito 30,40  # widths of the damping layer of Devito's examples

Devito (needs devito) gets the same grid, differences, time step and source, double precision, and damping
layers of 60 nodes at the other three faces.
"""

import argparse
import os
import subprocess
import tempfile

import numpy as np
import peers_common

RECEIVERS = [1000, 1460, 1800, 2390]  # depths, m
MEDIA = {"isotropic": [], "VTI": ["--epsilon", "0.2", "--delta", "0.1", "--source-taper", "0"],
         "TTI": ["--epsilon", "0.2", "--delta", "0.1", "--theta", "30deg", "--source-taper", "0"]}


def gather(program, folder, left, medium, frequency, longer):
    """Returns the traces of the four receivers with this left face."""
    command = [program, "--vp", "2000", *medium, "--shape", f"{240 + longer},420", "--spacing", "10",
               "--origin", f"{-10 * longer},0", "--wavelet", f"ricker:{frequency}", "--time",
               f"{1.1 + 3.0 / frequency:.3f}", "--dt", "0.0018", "--source", "400,1000",
               "--receivers", ";".join(f"400,{z}" for z in RECEIVERS), "--boundary", f"sponge:60,left={left}",
               "--precision", "double", "--snapshot-every", "0", "--no-plot", "--quiet", "--out", folder]
    subprocess.run(command, check=True)
    return np.load(os.path.join(folder, "gather.npy"))


def devito_gather(frequency, width, strength, longer):
    """Returns the traces of Devito with `width` nodes of damping at the left face (0: rigid).

    `strength` scales the damping coefficient of Devito's examples.
    """
    import devito

    h, dt, other, steps = 10.0, 0.0018, 60, int((1.1 + 3.0 / frequency) / 0.0018)
    left = width + longer
    shape = (left + 240 + other, other + 420 + other)
    origin = (-h * left, -h * other)
    grid = devito.Grid(shape=shape, extent=tuple(h * (n - 1) for n in shape), origin=origin, dtype=np.float64)
    u = devito.TimeFunction(name="u", grid=grid, time_order=2, space_order=8)
    damp = devito.Function(name="damp", grid=grid, space_order=0)
    # both ends of an axis have the same coefficient: layers of the right face's width, then the left one is
    # replaced
    across = peers_common.damping(np, other, shape[0], h)
    across[:shape[0] // 2] = strength * peers_common.damping(np, width, 2 * shape[0],
                                                             h)[:shape[0] // 2] if width else 0.0
    damp.data[:] = across[:, None] + peers_common.damping(np, other, shape[1], h)[None, :]
    m = 1.0 / 2000.0**2
    update = devito.Eq(u.forward, devito.solve(m * u.dt2 - u.laplace + damp * u.dt, u.forward))
    source = devito.SparseTimeFunction(name="source", grid=grid, npoint=1, nt=steps + 1,
                                       coordinates=np.array([[400.0, 1000.0]]))
    a = (np.pi * frequency * (dt * np.arange(steps + 1) - 1.5 / frequency)) ** 2
    source.data[:, 0] = (1.0 - 2.0 * a) * np.exp(-a)
    traces = devito.SparseTimeFunction(name="traces", grid=grid, npoint=len(RECEIVERS), nt=steps + 1,
                                       coordinates=np.array([[400.0, z] for z in RECEIVERS]))
    operator = devito.Operator([update] + source.inject(field=u.forward, expr=source * (dt**2 / m))
                               + traces.interpolate(expr=u))
    operator.apply(time_M=steps, dt=dt)
    return np.array(traces.data).T


def row(*values):
    print("| " + " | ".join(values) + " |", flush=True)


def shares(layer, longer, rigid):
    """Returns the reflections of a layer in percent, by receiver."""
    return [f"{100 * value:.2g} %" for value in np.abs(layer - longer).max(axis=1) / rigid]


def devito_rows(widths):
    os.environ.setdefault("DEVITO_LOGGING", "ERROR")
    for frequency in (15, 8):
        longer = devito_gather(frequency, 0, 0, 160)
        rigid = np.abs(devito_gather(frequency, 0, 0, 0) - longer).max(axis=1)
        for width in widths:
            for strength, name in ((1.0, ""), (0.5, ", half as strong")):
                layer = devito_gather(frequency, width, strength, 0)
                row(f"{200 / frequency:.3g}", "isotropic", f"Devito's damping of {width}{name}",
                    *shares(layer, longer, rigid))


def moho_rows(program, layers):
    with tempfile.TemporaryDirectory() as folder:
        for frequency, wide in ((15, 35), (8, 55)):
            for name, medium in MEDIA.items():
                if layers and name != "isotropic":
                    continue
                longer = gather(program, folder, "rigid", medium, frequency, 160)
                rigid = np.abs(gather(program, folder, "rigid", medium, frequency, 0) - longer).max(axis=1)
                defaults = ("sponge:30", f"sponge:{wide}") if name == "TTI" else ("cpml:20", "sponge:30")
                for layer in layers or defaults:
                    found = gather(program, folder, layer, medium, frequency, 0)
                    row(f"{200 / frequency:.3g}", name, layer, *shares(found, longer, rigid))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="path of model_waves")
    parser.add_argument("--layers", type=lambda text: text.split(","),
                        help="layers of the left face, in isotropic media")
    parser.add_argument("--devito", type=lambda text: [int(n) for n in text.split(",")],
                        help="widths of Devito's damping")
    options = parser.parse_args()
    if (options.program is None) == (options.devito is None):
        parser.error("name model_waves, or widths with --devito")
    row("nodes per wavelength", "medium", "layer", "0", "30", "45", "60 degrees")
    print("|---|---|---|---|---|---|---|")
    if options.devito:
        devito_rows(options.devito)
    else:
        moho_rows(options.program, options.layers)


if __name__ == "__main__":
    main()
