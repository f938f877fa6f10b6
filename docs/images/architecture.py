#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the pictures of docs/architecture.md, modules.svg and engine.svg, into the folder of this program.

The arrows between modules are read from tests/layout/dependencies.cpp, the table that the test
layout.dependencies holds all includes to.
"""

import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

FOLDER = Path(__file__).resolve().parent
TABLE = FOLDER.parents[1] / "tests/layout/dependencies.cpp"

# Position of each module's box: column, row, contents.
MODULES = {
    "core": (2.85, 0, "instances, loops, copies,\ngrids, boxes, errors, text"),
    "io": (0.95, 1, "npy, RSF, SEG-Y, CSV,\nVTK (host code)"),
    "eikonal": (2.1, 1, "first-arrival\ntraveltimes"),
    "wave": (3.2, 1, "media, propagators,\npoints, runs, shots"),
    "rays": (4.5, 1, "shortest paths,\nrays, tomography"),
    "mpi": (5.6, 1, "ranks (optional)"),
    "cluster": (0.0, 2, "shots over sites\n(without Kokkos)"),
    "optimize": (0.95, 2, "L-BFGS, damped\nleast squares"),
    "survey": (1.9, 2, "shots, gathers,\ntheir preparation"),
    "domain": (2.85, 2, "expanding domains"),
    "snapshot": (3.8, 2, "stores and codecs\nof wavefields"),
    "stream": (4.75, 2, "volumes larger\nthan a device"),
    "gravity": (5.7, 2, "prisms;\nmpi for gravity_mpi"),
    "gravity_inversion": (4.85, 3, "densities of cells\nfrom gravity"),
    "tomography": (5.9, 3, "velocity from\nfirst arrivals"),
    "rtm": (2.4, 3, "imaging conditions,\nmigration"),
    "fwi": (3.8, 3, "misfits, gradients,\nobjective"),
}
HOST_CODE = ("io", "mpi", "cluster")
WIDTH, HEIGHT = 0.86, 0.52
COLOURS = {"core": "#dfe7f2", "host": "#eeeeee", "kernels": "#e3f0e0", "outside": "#f7efdc"}


def dependencies():
    """The modules that each module may include, as the test has them."""
    text = TABLE.read_text()
    table = text[text.index("> allowed = {"):]
    table = table[:table.index("};")]
    found = {name: re.findall(r'"(\w+)"', others)
             for name, others in re.findall(r'\{"(\w+)",\s*\{([^}]*)\}\}', table)}
    if not set(found) <= set(MODULES):
        sys.exit(f"architecture.py: MODULES has {sorted(MODULES)}, the test {sorted(found)}: "
                 "give the new module a place")
    return found


def box(axes, x, y, width, height, title, text="", colour="#ffffff"):
    """A box around (x, y) with a bold first line at its top."""
    axes.add_patch(FancyBboxPatch((x - width / 2, y - height / 2), width, height, facecolor=colour,
                                  edgecolor="#444444", boxstyle="round,pad=0,rounding_size=0.05"))
    top = y + height / 2 - 0.06
    axes.text(x, top, title, ha="center", va="top", weight="bold", size=9)
    axes.text(x, top - 0.15, text, ha="center", va="top", size=7.5, linespacing=1.15)


def arrow(axes, start, end, text="", dashed=False, bend=0.0, at=0.5, offset=(0.0, 0.0)):
    """An arrow from a point to another, with words beside it."""
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=10, color="#444444",
                                   linestyle="--" if dashed else "-", linewidth=1.0, shrinkA=0, shrinkB=0,
                                   connectionstyle=f"arc3,rad={bend}"))
    if text:
        x = start[0] + at * (end[0] - start[0]) + offset[0]
        y = start[1] + at * (end[1] - start[1]) + offset[1]
        axes.text(x, y, text, ha="center", va="center", size=7.5, style="italic",
                  bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0})


def canvas(width, height, left, right, bottom, top):
    """Axes without marks."""
    figure, axes = plt.subplots(figsize=(width, height))
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.axis("off")
    figure.subplots_adjust(0, 0, 1, 1)
    return figure, axes


def save(figure, name):
    """Writes a picture that is the same whenever it is drawn; letters stay text, in a font of that width."""
    figure.savefig(FOLDER / name, metadata={"Date": None})
    text = (FOLDER / name).read_text()
    (FOLDER / name).write_text(text.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif"))
    print(FOLDER / name)


def reached(table, module):
    """The modules that a module includes, directly or through others."""
    found = set()
    for other in table.get(module, []):
        found |= {other} | reached(table, other)
    return found


def draw_modules():
    """Modules of lib/moho, arrows to what they include, and what uses them."""
    figure, axes = canvas(11.0, 5.5, -0.5, 6.2, -0.45, 4.7)
    table = dependencies()
    place = {name: (x, y * 0.95) for name, (x, y, _) in MODULES.items() if name in table}
    for name, others in table.items():
        x, y = place[name]
        for other in others:
            if name == "gravity" and other == "core":  # between two modules, though mpi includes core
                axes.plot([5.35, 5.05, 5.05], [1.9 - HEIGHT / 2, 1.3, 0.6], color="#444444", linewidth=1.0)
                arrow(axes, (5.05, 0.6), (3.55, 0.05))
                continue
            if any(other in reached(table, via) for via in others):
                continue  # an arrow through another module exists
            to_x, to_y = place[other]
            end_x = to_x + max(-0.4 * WIDTH, min(0.4 * WIDTH, 0.22 * (x - to_x)))
            start_x = x + max(-0.4 * WIDTH, min(0.4 * WIDTH, 0.25 * (to_x - x)))
            arrow(axes, (start_x, y - HEIGHT / 2), (end_x, to_y + HEIGHT / 2), dashed=other == "mpi")
    for name, (x, y) in place.items():
        text = MODULES[name][2]
        box(axes, x, y, WIDTH * (1.6 if name == "core" else 1.0), HEIGHT, "moho::" + name, text,
            COLOURS["core" if name == "core" else "host" if name in HOST_CODE else "kernels"])
    box(axes, 0.6, 4.1, 2.0, 0.56, "lib/kernels",
        "templates of the modules with kernels,\ncompiled once", COLOURS["outside"])
    box(axes, 3.9, 4.1, 3.2, 0.56, "examples, bench, tests",
        "options and files on the host,\ncalls of the library in any memory of the build",
        COLOURS["outside"])
    arrow(axes, (2.3, 4.1), (1.6, 4.1))
    for x, y in ((2.6, 2.85), (3.8, 2.85), (5.2, 1.9)):
        arrow(axes, (min(max(x, 2.5), 5.3), 3.82), (x, y + HEIGHT / 2))
    save(figure, "modules.svg")


def draw_engine():
    """From a velocity file to a kernel, and the objects of a run."""
    figure, axes = canvas(9.4, 5.6, -0.1, 9.3, -0.15, 5.45)
    y, height = 4.65, 0.86
    path = [
        (0.85, 1.5, "file", "npy, RSF, SEG-Y,\nor a number", COLOURS["host"]),
        (2.85, 1.7, "LoadedModel", "io::read_model():\nhost array, (x, y, z),\nz contiguous",
         COLOURS["host"]),
        (4.75, 1.5, "wave::Model", "fields in Memory,\none a parameter", COLOURS["kernels"]),
        (6.6, 1.5, "extended Model", "extend_model():\nlayers outside of\nthe model's edges",
         COLOURS["kernels"]),
        (8.45, 1.6, "MediumWindow", "load(): (v dt)^2 ...,\npadded rows, planes\nof a window",
         COLOURS["kernels"]),
    ]
    for n, (x, width, title, text, colour) in enumerate(path):
        box(axes, x, y, width, height, title, text, colour)
        if n > 0:
            before, its_width = path[n - 1][0], path[n - 1][1]
            arrow(axes, (before + its_width / 2, y), (x - width / 2, y))
    axes.text(0.1, 5.28, "The path of a velocity", size=10, weight="bold")
    axes.text(0.1, 3.83, "A run", size=10, weight="bold")

    box(axes, 7.6, 2.85, 3.1, 1.0, "Propagator", "", COLOURS["core"])
    box(axes, 6.86, 2.73, 1.3, 0.6, "Scheme", "grid, dt, order,\nfaces, kernels", "#ffffff")
    box(axes, 8.31, 2.73, 1.46, 0.6, "MediumWindow", "all planes", "#ffffff")
    arrow(axes, (8.45, y - height / 2), (8.45, 3.35), "all planes of the grid", offset=(-0.75, 0.0))

    box(axes, 4.15, 2.8, 1.8, 0.9, "Wavefield",
        "now, next of p (and q),\naxis derivatives, memory\nof CPML, all padded", COLOURS["kernels"])
    arrow(axes, (6.05, 2.8), (5.05, 2.8), "step(box):\nkernels")
    box(axes, 1.25, 2.8, 1.9, 0.9, "PointSet",
        "sources; receivers:\nweights in Memory,\npositions on the host", COLOURS["kernels"])
    arrow(axes, (2.2, 2.95), (3.25, 2.95), "inject", offset=(0, 0.12))
    arrow(axes, (3.25, 2.65), (2.2, 2.65), "record", offset=(0, -0.12))

    box(axes, 4.15, 1.25, 2.5, 0.8, "run_steps()",
        "a box a step, in either direction;\nmodel_shot() is one such run", COLOURS["outside"])
    arrow(axes, (4.15, 1.65), (4.15, 2.35), "advance()")
    arrow(axes, (2.9, 1.5), (1.5, 2.35), "callbacks", dashed=True)
    arrow(axes, (5.4, 1.5), (7.0, 2.35), "steps", dashed=True)
    box(axes, 7.7, 1.25, 2.4, 0.8, "Domain",
        "the box of each step: whole grid,\nlayers, eikonal, amplitude (domain),\nor a history replayed",
        COLOURS["kernels"])
    arrow(axes, (6.5, 1.25), (5.4, 1.25), "box", offset=(0, 0.12))
    box(axes, 1.15, 1.25, 1.9, 0.8, "RunReport", "seconds, nodes,\nBoxHistory", COLOURS["host"])
    arrow(axes, (2.9, 1.25), (2.1, 1.25))
    box(axes, 4.6, 0.2, 9.0, 0.5, "Instance<Memory>",
        "given to every call; all kernels, fills and copies run on it: Serial or OpenMP for HostSpace, a "
        "stream for CudaSpace", COLOURS["core"])
    arrow(axes, (4.15, 0.85), (4.15, 0.45))
    save(figure, "engine.svg")


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "moho"
    plt.rcParams["svg.fonttype"] = "none"
    plt.rcParams["font.family"] = "DejaVu Sans"
    draw_modules()
    draw_engine()
