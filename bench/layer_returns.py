#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the reflections of absorbing layers: the tables of docs/theory/waves.md.

A section of 2000 m/s has nodes 10 m apart and a point source 40 nodes from its left face. The receivers are
at the same distance from the face. Their reflections have angles of incidence of 0, 30, 45 and 60 degrees.
The reflection of a layer is the difference from a grid that is 160 nodes longer. It is given relative to the
reflection of a rigid face, both by their largest amplitude.

    bench/layer_returns.py build/host/examples/model_waves
    bench/layer_returns.py build/host/examples/model_waves --layers cpml:8,cpml:10,sponge:40  # isotropic
    bench/layer_returns.py build/host/examples/model_waves --layers cpml:15 --cases 3D,surface,density
    bench/layer_returns.py build/host/examples/model_waves --layers cpml:15 --steps 20000  # late amplitudes
    bench/layer_returns.py build/host/examples/model_waves --layers cpml:10 --frequencies 24,4 --out x.json
    bench/layer_returns.py --devito 30,40  # widths of the damping layer of Devito's examples

The case fast has 4000 m/s at the bottom, from where nothing returns in the time: layers damp for twice the
velocity beside them. Wavelengths are those of 2000 m/s at the peak frequency of the wavelet. With --out, rows
are also written to a file, with the command and the processor.

With --steps, layers are at all faces of a small model. The table has the largest amplitudes at the receivers
in 5 % of the steps after 25, 50 and 95 %, relative to the largest one of the run. Sources have the default
taper.

Devito (needs devito) gets the same grid, differences, time step and source, double precision, and damping
layers of 60 nodes at the other three faces.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

import numpy as np
import peers_common

OFFSETS = [0, 460, 800, 1390]  # of the receivers from the source along the left face, m
NO_TAPER = ["--source-taper", "0"]
THOMSEN = ["--epsilon", "0.2", "--delta", "0.1"]


@dataclass
class Case:
    """A model and its faces.

    `contrast` multiplies the density by 2.5 from a depth of 500 m below the source on; `surface` frees the
    top, 200 m above the source; `fast` doubles the velocity at the bottom.
    """

    dimensions: int = 2
    medium: list = field(default_factory=list)
    surface: bool = False
    contrast: bool = False
    fast: bool = False

    def source(self):
        """Returns the coordinates of the source, m."""
        return [400, *[300] * (self.dimensions - 2), 200 if self.surface else 1000]

    def receivers(self):
        """Returns the coordinates of the receivers, m."""
        return [[*self.source()[:-1], self.source()[-1] + offset] for offset in OFFSETS]


CASES = {
    "isotropic": Case(),
    "VTI": Case(medium=THOMSEN),
    "TTI": Case(medium=[*THOMSEN, "--theta", "30deg"]),
    "density": Case(contrast=True),
    "fast": Case(fast=True),
    "surface": Case(surface=True),
    "surface-VTI": Case(medium=THOMSEN, surface=True),
    "surface-density": Case(surface=True, contrast=True),
    "3D": Case(3),
    "3D-VTI": Case(3, medium=THOMSEN),
    "3D-density": Case(3, contrast=True),
    "3D-surface": Case(3, surface=True),
    "3D-surface-VTI": Case(3, medium=THOMSEN, surface=True),
}


def point(coordinates):
    return ",".join(str(x) for x in coordinates)


def traces(program, folder, case, shape, more):
    """Returns the traces of a run of model_waves in double precision."""
    model = ["--shape", point(shape), *case.medium]
    if case.contrast:
        density = np.full(shape, 1000.0)
        density[..., (case.source()[-1] + 500) // 10:] = 2500.0
        np.save(os.path.join(folder, "density.npy"), density)
        model = ["--rho", os.path.join(folder, "density.npy")]
    velocity = "2000"
    if case.fast:
        values = np.full(shape, 2000.0)
        values[..., -30:] = 4000.0
        velocity, model = os.path.join(folder, "velocity.npy"), []
        np.save(velocity, values)
    command = [program, "--vp", velocity, *model, "--spacing", "10", "--dt",
               "0.0009" if case.fast else "0.0018", "--interval", "0.0018", "--precision", "double",
               "--snapshot-every", "0", "--no-plot", "--quiet", "--out", folder, *more]
    subprocess.run(command, check=True)
    return np.load(os.path.join(folder, "gather.npy"))


def gather(program, folder, left, case, frequency, longer):
    """Returns the traces of the four receivers with this left face."""
    # volumes of the size that these waves reach in the time
    shape = [240 + longer, 420] if case.dimensions == 2 else [80 + longer, 61, 280]
    if case.surface:
        shape[-1] -= 80
    faces = f"sponge:{60 if case.dimensions == 2 else 30},left={left}" + (",top=free" if case.surface else "")
    return traces(program, folder, case, shape,
                  ["--origin", point([-10 * longer] + [0] * (case.dimensions - 1)),
                   "--wavelet", f"ricker:{frequency}", "--time", f"{1.1 + 3.0 / frequency:.3f}",
                   "--source", point(case.source()), "--receivers", ";".join(map(point, case.receivers())),
                   "--boundary", faces, *NO_TAPER * bool(case.medium)])


def late_amplitudes(program, folder, layer, case, steps):
    """Returns the largest amplitudes after 25, 50 and 95 % of the steps, relative to that of the run."""
    n = 100 if case.dimensions == 2 else 40
    source = [10 * n // 4] * case.dimensions
    found = np.abs(traces(
        program, folder, Case(case.dimensions, case.medium, case.surface), [n] * case.dimensions,
        ["--wavelet", "ricker:15", "--time", f"{0.0018 * steps:.4f}", "--source", point(source),
         "--receivers", ";".join(point([k * x for x in source]) for k in (1, 2, 3)),
         "--boundary", layer + (",top=free" if case.surface else "")])).max(axis=0)
    count = found.size
    return [f"{found[int(part * count):int((part + 0.05) * count)].max() / found.max():.1e}"
            for part in (0.25, 0.5, 0.95)]


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
    traces = devito.SparseTimeFunction(name="traces", grid=grid, npoint=len(OFFSETS), nt=steps + 1,
                                       coordinates=np.array([[400.0, 1000.0 + z] for z in OFFSETS]))
    operator = devito.Operator([update] + source.inject(field=u.forward, expr=source * (dt**2 / m))
                               + traces.interpolate(expr=u))
    operator.apply(time_M=steps, dt=dt)
    return np.array(traces.data).T


def row(values):
    print("| " + " | ".join(values) + " |", flush=True)


def shares(layer, longer, rigid):
    """Returns the reflections of a layer in percent, by receiver."""
    return [f"{100 * value:.2g} %" for value in np.abs(layer - longer).max(axis=1) / rigid]


def devito_rows(widths, frequencies):
    os.environ.setdefault("DEVITO_LOGGING", "ERROR")
    for frequency in frequencies:
        longer = devito_gather(frequency, 0, 0, 160)
        rigid = np.abs(devito_gather(frequency, 0, 0, 0) - longer).max(axis=1)
        for width in widths:
            for strength, name in ((1.0, ""), (0.5, ", half as strong")):
                layer = devito_gather(frequency, width, strength, 0)
                yield [f"{200 / frequency:.3g}", "isotropic", f"Devito's damping of {width}{name}",
                       *shares(layer, longer, rigid)]


def moho_rows(program, layers, cases, frequencies):
    with tempfile.TemporaryDirectory() as folder:
        for frequency in frequencies:
            wide = 35 if frequency > 10 else 55
            for name in cases:
                case = CASES[name]
                longer = gather(program, folder, "rigid", case, frequency, 160)
                rigid = np.abs(gather(program, folder, "rigid", case, frequency, 0) - longer).max(axis=1)
                defaults = ("sponge:30", f"sponge:{wide}") if name == "TTI" else ("cpml:10", "sponge:30")
                for layer in layers or defaults:
                    found = gather(program, folder, layer, case, frequency, 0)
                    yield [f"{200 / frequency:.3g}", name, layer, *shares(found, longer, rigid)]


def late_rows(program, layers, cases, steps):
    with tempfile.TemporaryDirectory() as folder:
        for name in cases:
            for layer in layers:
                yield [name, layer, *late_amplitudes(program, folder, layer, CASES[name], steps)]


def write(names, rows, path):
    """Prints a table as its rows arrive, and writes it to a file if a path is given."""
    row(names)
    print("|" + "---|" * len(names))
    found = []
    for values in rows:
        row(values)
        found.append(dict(zip(names, values)))
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"command": " ".join([sys.argv[0], *sys.argv[1:]]),
                       "processor": peers_common.processor(), "rows": found}, file, indent=1)
            file.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="path of model_waves")
    parser.add_argument("--layers", type=lambda text: text.split(","), help="layers of the left face")
    parser.add_argument("--cases", type=lambda text: text.split(","),
                        help=f"of {', '.join(CASES)} (default: isotropic; without --layers also VTI and TTI)")
    parser.add_argument("--steps", type=int, help="measure late amplitudes in a run of so many steps")
    parser.add_argument("--devito", type=lambda text: [int(n) for n in text.split(",")],
                        help="widths of Devito's damping")
    parser.add_argument("--frequencies", type=lambda text: [float(f) for f in text.split(",")],
                        default=[15, 8], help="of the Ricker wavelets, Hz (default: 15,8)")
    parser.add_argument("--out", help="JSON file to write")
    options = parser.parse_args()
    if (options.program is None) == (options.devito is None):
        parser.error("name model_waves, or widths with --devito")
    cases = options.cases or (["isotropic"] if options.layers else ["isotropic", "VTI", "TTI"])
    if unknown := set(cases) - set(CASES):
        parser.error(f"--cases: no case {', '.join(sorted(unknown))} (allowed: {', '.join(CASES)})")
    if options.steps:
        if not options.layers or any(CASES[name].contrast for name in cases):
            parser.error("--steps needs --layers, and cases without a density")
        rows = late_rows(options.program, options.layers, cases, options.steps)
        return write(["medium", "layer", "25 %", "50 %", "95 % of the steps"], rows, options.out)
    if options.devito:
        rows = devito_rows(options.devito, options.frequencies)
    else:
        rows = moho_rows(options.program, options.layers, cases, options.frequencies)
    return write(["nodes per wavelength", "medium", "layer", "0", "30", "45", "60 degrees"], rows,
                 options.out)


if __name__ == "__main__":
    main()
