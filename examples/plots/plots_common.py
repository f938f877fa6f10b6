# SPDX-License-Identifier: BSD-3-Clause
"""Shared parts of the plotting programs: the drawing code of moho.plot, reading of results, saving.

The drawing code is the folder plot next to this file (installed), or lib/python/moho/plot of the source tree;
it is loaded as `plot`, without the other parts of the Python package. Leaves the process with EXIT_PACKAGES
if numpy or matplotlib is absent.
"""

import importlib.util
import json
import os
import sys

sys.dont_write_bytecode = True

EXIT_USAGE = 2
EXIT_PACKAGES = 3

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np
except ImportError as error:
    print(f"{sys.executable} has no {error.name}")
    sys.exit(EXIT_PACKAGES)


def load_plot():
    """Loads the package moho.plot under the name moho_plot."""
    here = os.path.dirname(os.path.realpath(__file__))
    folders = [os.path.join(here, "plot"), os.path.join(here, "..", "..", "lib", "python", "moho", "plot")]
    found = [folder for folder in folders if os.path.isfile(os.path.join(folder, "__init__.py"))]
    if not found:
        print(f"{folders[0]} with the drawing code is missing: install moho again")
        sys.exit(EXIT_USAGE)
    spec = importlib.util.spec_from_file_location("moho_plot", os.path.join(found[0], "__init__.py"),
                                                  submodule_search_locations=[found[0]])
    module = importlib.util.module_from_spec(spec)
    sys.modules["moho_plot"] = module
    spec.loader.exec_module(module)
    return module


plot = load_plot()
sheets = sys.modules["moho_plot._sheets"]
sections = sys.modules["moho_plot._sections"]
PlotError = plot.PlotError


def grid_of(summary):
    """Returns spacing and origin of a summary's model as arguments of moho.plot."""
    return {"spacing": summary["model"]["spacing"], "origin": summary["model"]["origin"]}


def check_colours(name):
    if name and name not in plt.colormaps():
        raise PlotError(f"--colour-map {name} is unknown to matplotlib")


def read_summary(folder, program):
    """Returns the summary of a program's results."""
    try:
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        found = summary["program"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PlotError(f"{folder} does not hold the results of {program}: {error}") from error
    if found != program:
        raise PlotError(f"{folder} does not hold the results of {program}: summary.json is of different "
                        f"runs, of {found}")
    return summary


def load(folder, name):
    """Returns an array of a results folder, memory-mapped."""
    try:
        return np.load(os.path.join(folder, name), mmap_mode="r")
    except (OSError, ValueError) as error:
        raise PlotError(f"{folder}: {name} cannot be read: {error}") from error


def save(figure, path, dpi):
    """Writes the picture to a temporary file and renames it when it is complete."""
    kind = os.path.splitext(path)[1].lstrip(".") or "png"
    temporary = f"{path}.part"
    try:
        if os.path.lexists(temporary):
            os.remove(temporary)  # open() would follow a link
        figure.savefig(temporary, dpi=dpi, format=kind)
        os.replace(temporary, path)
    except (OSError, ValueError) as error:
        raise PlotError(f"{path} cannot be written: {error}") from error
    finally:
        plt.close(figure)
        if os.path.exists(temporary):
            os.remove(temporary)
