# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of inversions: models next to each other, misfits over iterations."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator

from . import _sections, _sheets
from ._sheets import PlotError

UNITS = {"vp": "m/s", "rho": "kg/m³", "density": "kg/m³"}
TITLES = {"vp": "P velocity", "rho": "Density", "density": "Density", "epsilon": "Epsilon", "delta": "Delta"}


def models(parameters, *, spacing, origin=0.0, sources=None, receivers=None):
    """Draws models next to each other, a row for each parameter and section; a row has one scale.

    Long sections of one parameter are drawn below each other.

    Parameters
    ----------
    parameters : mapping of str to mapping of str to array, shape (nx, nz) or (nx, ny, nz)
        Models by parameter ("vp" in m/s, "density" in kg/m3, "epsilon", "delta" or another name) and title,
        such as {"vp": {"start": ..., "result": ..., "true": ...}}.
    spacing, origin : float or one for each axis
        Distance of nodes and position of the first one, m.
    sources, receivers : array, shape (n, 2) or (n, 3), optional
        Positions to mark, m.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    PlotError
        Models and positions do not fit each other.
    """
    every = [array for arrays in parameters.values() for array in arrays.values()]
    if not every:
        raise PlotError("parameters: there is no model (allowed: one or more)")
    grid = _sections.model_of(np.shape(every[0]), spacing, origin)
    sources = _sections.points_of(sources, len(grid["shape"]), "sources")
    receivers = _sections.points_of(receivers, len(grid["shape"]), "receivers")
    sections = _sections.middle_sections(grid, depth_slice=True)
    kinds = list(dict.fromkeys(title for arrays in parameters.values() for title in arrays))
    blocks = [(name, section) for name in parameters for section in sections]
    long = sections[0].lengths[0] > 2.0 * sections[0].lengths[1] * sections[0].exaggeration
    stacked = len(blocks) == 1 and long
    sizes = [_sheets.panel_sizes([section] if stacked else [section] * len(kinds), 9.0 if stacked else 11.0,
                                 4.0)[0]
             for _, section in blocks]
    if stacked:
        sheet = _sheets.Sheet([sizes[0][0]], [sizes[0][1]] * len(kinds))
    else:
        sheet = _sheets.Sheet([max(w for w, _ in sizes)] * len(kinds), [h for _, h in sizes])
    for b, (name, section) in enumerate(blocks):
        arrays = [(section.cut(array), title, kinds.index(title))
                  for title, array in parameters[name].items()]
        low, high = _sheets.limits_of(*(values for values, _, _ in arrays))
        for values, title, k in arrays:
            at = f", {section.title}" if section.title else ""
            axes = sheet.panel(*((k, 0) if stacked else (b, k)), f"{TITLES.get(name, name)}: {title}{at}")
            shown = section.draw(axes, values, cmap="viridis", vmin=low, vmax=high)
            section.mark(axes, receivers, _sheets.MOST_RECEIVERS, **_sheets.RECEIVER)
            section.mark(axes, sources, **_sheets.source_style("#c1121f", 10))
            if stacked or (values is arrays[-1][0]):
                unit = f" ({UNITS[name]})" if name in UNITS else ""
                _sheets.colour_bar(axes, shown, TITLES.get(name, name) + unit)
    return sheet.figure


def misfit(curves, *, errors=None, published=None, label="Misfit relative to the first of its band"):
    """Draws misfits over iterations, and errors of the model if they are known.

    Parameters
    ----------
    curves : mapping of str to (sequence, sequence)
        Iterations and misfits by name, such as {"up to 8 Hz": ([0, 1, 2], [1, 0.6, 0.4])}.
    errors : (sequence, sequence), optional
        Iterations and errors of the P velocity, %.
    published : array, shape (n, 2), optional
        Iterations and misfits of another source.
    label : str
        Label of the misfits.

    Returns
    -------
    matplotlib.figure.Figure
    """
    known = errors is not None
    figure, plots = plt.subplots(1, 2 if known else 1, figsize=(11.0 if known else 6.0, 4.2), squeeze=False,
                                 constrained_layout=True)
    for axes in plots[0]:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes = plots[0][0]
    for name, (iterations, values) in _sheets.mapping_of(curves, "curves").items():
        axes.semilogy(iterations, values, "o-", markersize=3, label=name)
    if published is not None:
        published = np.asarray(published, dtype=float)
        axes.semilogy(published[:, 0], published[:, 1], "ks", markerfacecolor="none", label="published")
    axes.set_xlabel("Iteration")
    axes.set_ylabel(label)
    axes.grid(True, which="both", alpha=0.3)
    lowest, highest = axes.get_ylim()
    if highest < 10.0 * lowest:  # less than a decade: decimal numbers instead of powers of ten
        for axis_formatter in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
            axis_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.legend()
    if known:
        axes = plots[0][1]
        axes.plot(*errors, "o-", markersize=3)
        axes.set_xlabel("Iteration")
        axes.set_ylabel("Error of the P velocity (%)")
        axes.grid(True, alpha=0.3)
    return figure
