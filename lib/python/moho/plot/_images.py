# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of models and images: sections of fields, illumination, offset and angle gathers."""

from __future__ import annotations

import numpy as np
from matplotlib.ticker import MaxNLocator

from . import _sections, _sheets
from ._sheets import PlotError


def _survey(sources, receivers, dimensions, legend):
    """Returns sources, receivers and the legend of their marks."""
    sources = _sections.points_of(sources, dimensions, "sources")
    receivers = _sections.points_of(receivers, dimensions, "receivers")
    if legend is None:
        marks = (["stars: sources"] if len(sources) else []) + (["triangles: receivers"]
                                                                if len(receivers) else [])
        legend = "; ".join(marks)
    return sources, receivers, legend


def _mark(section, axes, sources, receivers):
    section.mark(axes, receivers, _sheets.MOST_RECEIVERS, **_sheets.RECEIVER)
    section.mark(axes, sources, **_sheets.source_style("#c1121f"))


def model(values, *, spacing, origin=0.0, at=None, depth_slice=True, label="P velocity (m/s)", limits=None,
          colour_map="viridis", contours=0, sources=None, receivers=None, title=""):
    """Draws a field on the nodes of a model; in 3D as sections.

    Parameters
    ----------
    values : array, shape (nx, nz) or (nx, ny, nz)
        The field.
    spacing, origin : float or one for each axis
        Distance of nodes and position of the first one, m.
    at : sequence of 3 floats, optional
        Point of the sections of a volume, m. Default: its middle.
    depth_slice : bool
        True: the sections of a volume include one of constant depth.
    label : str
        Quantity and unit, at the bar of colours.
    limits : (float, float), optional
        Values of the first and the last colour. Default: the least and the greatest value.
    colour_map : str
        Matplotlib's name of the colours.
    contours : int
        About as many contours as this; 0: none.
    sources, receivers : array, shape (n, 2) or (n, 3), optional
        Positions to mark, m.
    title : str
        Text above all panels.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    PlotError
        Spacing, origin and positions do not fit the field.
    """
    grid = _sections.model_of(np.shape(values), spacing, origin)
    dimensions = len(grid["shape"])
    sources, receivers, _ = _survey(sources, receivers, dimensions, "")
    if at is None:
        sections = _sections.middle_sections(grid, depth_slice)
    else:
        point = _sections.points_of(at, dimensions, "at")[0]
        sections = _sections.sections_through(grid, point, depth_slice)
    parts = [section.cut(values) for section in sections]
    low, high = _sheets.limits_of(*parts) if limits is None else _sheets.pair_of(limits, "limits")
    levels, step = _sheets.contour_levels(low, high, contours) if contours else ([], 0.0)
    more = f"contours every {step:g}" if len(levels) else ""
    heading = ", ".join(text for text in (title, more) if text)
    sizes = [_sheets.panel_sizes([section], 9.0, 6.5)[0] for section in sections]
    sheet = _sheets.Sheet([max(w for w, _ in sizes)], [h for _, h in sizes], heading)
    for row, (section, part) in enumerate(zip(sections, parts)):
        axes = sheet.panel(row, 0, section.title)
        shown = section.draw(axes, part, cmap=colour_map, vmin=low, vmax=high)
        section.draw_contours(axes, part, levels, 2, colors=["white"], linewidths=0.8, alpha=0.9)
        _mark(section, axes, sources, receivers)
        _sheets.colour_bar(axes, shown, label, _sheets.extend_of(part, low, high))
    return sheet.figure


def image(image, velocity=None, *, spacing, origin=0.0, sources=None, receivers=None, legend=None,
          title="Image"):
    """Draws a migrated image in grey with contours of the velocity; in 3D sections through the middle.

    Parameters
    ----------
    image : array, shape (nx, nz) or (nx, ny, nz)
        Amplitudes; clipped at 99 % of the samples that are not silent.
    velocity : array of the shape of image, optional
        P velocity, m/s, for contours.
    spacing, origin : float or one for each axis
        Distance of nodes and position of the first one, m.
    sources, receivers : array, shape (n, 2) or (n, 3), optional
        Positions to mark, m.
    legend : str, optional
        Text for the marks. Default: that of sources and receivers.
    title : str
        Text before the interval of the contours.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    PlotError
        Image, velocity and positions do not fit each other.
    """
    grid = _sections.model_of(np.shape(image), spacing, origin)
    sources, receivers, legend = _survey(sources, receivers, len(grid["shape"]), legend)
    sections = _sections.middle_sections(grid, depth_slice=True)
    sizes = [_sheets.panel_sizes([section], 9.0, 6.5)[0] for section in sections]
    parts = [section.cut(image) for section in sections]
    below = [None if velocity is None else section.cut(velocity) for section in sections]
    clip = _sheets.clip_of(np.concatenate([part.ravel() for part in parts]), 99.0, 1e-6)
    levels, step = _sheets.contour_levels(*_sheets.limits_of(*below), 7) if velocity is not None else ([], 0)
    contours = f", contours of velocity every {step:g} m/s" if len(levels) else ""
    heading = title + contours + (f"; {legend}" if legend else "")
    sheet = _sheets.Sheet([max(w for w, _ in sizes)], [h for _, h in sizes], heading)
    for row, (section, part, under) in enumerate(zip(sections, parts, below)):
        axes = sheet.panel(row, 0, section.title)
        shown = section.draw(axes, part, cmap="gray", vmin=-clip, vmax=clip)
        if under is not None:
            section.draw_contours(axes, under, levels, 1, colors=["#d9480f"], linewidths=0.9, alpha=0.9)
        _mark(section, axes, sources, receivers)
        _sheets.colour_bar(axes, shown, "Amplitude", _sheets.extend_of(part, -clip, clip))
    return sheet.figure


def illumination(fields, *, spacing, origin=0.0, sources=None, receivers=None, legend=None):
    """Draws illumination in dB of the largest value; in 3D sections through the middle.

    Parameters
    ----------
    fields : mapping of str to array, shape (nx, nz) or (nx, ny, nz)
        Energy by the title of its panel, such as {"Illumination by the sources": ...}; 0 or more.
    spacing, origin : float or one for each axis
        Distance of nodes and position of the first one, m.
    sources, receivers : array, shape (n, 2) or (n, 3), optional
        Positions to mark, m.
    legend : str, optional
        Text for the marks, above all panels. Default: that of sources and receivers.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    PlotError
        Fields and positions do not fit each other.
    """
    if not fields:
        raise PlotError("fields: there is no illumination (allowed: one or more)")
    grid = _sections.model_of(np.shape(next(iter(fields.values()))), spacing, origin)
    sources, receivers, legend = _survey(sources, receivers, len(grid["shape"]), legend)
    sections = _sections.middle_sections(grid)
    sizes = _sheets.panel_sizes(sections, 9.0, 4.5)
    sheet = _sheets.Sheet([w for w, _ in sizes], [max(h for _, h in sizes)] * len(fields),
                          legend[:1].upper() + legend[1:])
    for row, (title, values) in enumerate(_sheets.mapping_of(fields, "fields").items()):
        # a single reference for all sections of a row
        parts = _sheets.decibels(np.concatenate([section.cut(values).ravel() for section in sections]))
        low, high = _sheets.level_limits(parts)
        extend = _sheets.extend_of(parts, low, high)
        for column, section in enumerate(sections):
            count = int(np.prod(section.cut(values).shape))
            part, parts = parts[:count].reshape(section.cut(values).shape), parts[count:]
            at = f", {section.title}" if section.title else ""
            axes = sheet.panel(row, column, f"{title}{at}")
            axes.set_facecolor("0.7")
            shown = section.draw(axes, np.ma.masked_invalid(part), cmap="magma", vmin=low, vmax=high)
            _mark(section, axes, sources, receivers)
        _sheets.colour_bar(axes, shown, "dB of the largest shown", extend)
    return sheet.figure


def depth_gathers(rows, *, titles, spacing, origin=0.0):
    """Draws offset and angle gathers at columns of an image; each panel has its own scale of grey.

    Parameters
    ----------
    rows : sequence of (values, first, step, label)
        Gathers of all columns, values[column] of shape (offsets or angles, depths); offset or angle of the
        first one and their interval; quantity and unit, such as "Angle (degrees)".
    titles : sequence of str
        Titles of the columns.
    spacing, origin : float
        Interval of depths and the first depth, m.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    PlotError
        There are no rows, or gathers are fewer than titles.
    """
    rows = [row for row in rows if row is not None]
    if not rows or not len(titles) or any(len(row[0]) < len(titles) for row in rows):
        raise PlotError("rows: gathers are missing (allowed: in each row one for each title)")
    width = float(np.clip(11.0 / len(titles) - 0.15, 1.1, 3.0))
    sheet = _sheets.Sheet([width] * len(titles), [4.0] * len(rows), "Each panel has its own scale of grey",
                          across=0.15, right=0.3)
    for r, (values, first, step, label) in enumerate(rows):
        for c, title in enumerate(titles):
            axes = sheet.panel(r, c, title, 9)
            gather = np.asarray(values[c], dtype=float)
            depth = origin + spacing * (gather.shape[1] - 1)
            clip = _sheets.clip_of(gather, 99.0, 1e-6)
            axes.imshow(gather.T, aspect="auto", cmap="gray", vmin=-clip, vmax=clip, interpolation="nearest",
                        extent=(first - 0.5 * step, first + step * (len(gather) - 0.5),
                                depth + 0.5 * spacing, origin - 0.5 * spacing))
            axes.set_xlabel(label, fontsize=9)
            axes.xaxis.set_major_locator(MaxNLocator(3, symmetric=True))
            axes.tick_params(labelleft=c == 0)
            if c == 0:
                axes.set_ylabel("Depth z (m)")
    return sheet.figure
