# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of first arrivals and rays."""

from __future__ import annotations

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from . import _sections, _sheets
from ._sheets import COLOURS, PlotError


def _time_levels(times, wanted):
    """Returns contour levels of traveltimes above 0."""
    return _sheets.contour_levels(0.0, float(np.max(times[np.isfinite(times)], initial=0.0)), wanted)[0]


def _times_of(times, model, count):
    """Returns times with an axis of sources."""
    times = getattr(times, "values", times)  # of a DataArray
    times = times if hasattr(times, "shape") else np.asarray(times)
    if times.ndim == len(model["shape"]):
        times = times[None]
    if list(times.shape[1:]) != model["shape"]:
        raise PlotError(f"times: their shape is {tuple(times.shape)} (allowed: (sources,) + "
                        f"{tuple(model['shape'])})")
    if count == 0 or len(times) == 0:
        raise PlotError("sources: there is none (allowed: one or more)")
    return times


def traveltimes(times, velocity, *, spacing, origin=0.0, sources, receivers=None, colour_map="viridis",
                title="First arrivals"):
    """Draws contours of first arrivals over the velocity; in 3D as sections through the first source.

    Parameters
    ----------
    times : array, shape (nx, nz), (nx, ny, nz), or with a first axis of sources
        Times at the nodes, s, as of moho.first_arrivals(). At most 4 sets of contours are drawn.
    velocity : array, shape (nx, nz) or (nx, ny, nz)
        Velocity, m/s.
    spacing, origin : float or one for each axis
        Distance of nodes and position of the first one, m.
    sources, receivers : array, shape (n, 2) or (n, 3)
        Positions, m.
    colour_map : str
        Matplotlib's name of the colours of the velocity.
    title : str
        Text before the interval of the contours.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    PlotError
        Times, velocity and positions do not fit each other.
    """
    model = _sections.model_of(np.shape(velocity), spacing, origin)
    dimensions = len(model["shape"])
    sources = _sections.points_of(sources, dimensions, "sources")
    receivers = _sections.points_of(receivers, dimensions, "receivers")
    times = _times_of(times, model, len(sources))
    source = [float(v) for v in sources[0]]
    if dimensions == 3 and _sections.node_of(model, 2, source[2]) == 0:
        # for a source at the surface the depth slice is in the middle
        source[2] = model["origin"][2] + model["spacing"][2] * ((model["shape"][2] - 1) // 2)
    sections = _sections.sections_through(model, source)
    sizes = _sheets.panel_sizes(sections, 9.6, 8.0 if dimensions == 2 else 5.0)
    shown = min(len(times), 4)  # more sets of contours cannot be distinguished: an even choice
    numbers = np.linspace(0, len(times) - 1, shown).round().astype(int)
    levels = _time_levels(np.asarray(times[numbers]), 18 if shown == 1 else 9)
    step = f", contours every {levels[0]:.6g} s" if len(levels) else ""
    if shown < len(times):
        step += f", {shown} of {len(times)} sources, spread evenly"
    sheet = _sheets.Sheet([w for w, _ in sizes], [max(h for _, h in sizes)], title + step)
    parts = [section.cut(velocity) for section in sections]
    limits = _sheets.limits_of(*parts)
    for column, (section, part) in enumerate(zip(sections, parts)):
        axes = sheet.panel(0, column, section.title, 9)
        image = section.draw(axes, part, cmap=colour_map, vmin=limits[0], vmax=limits[1])
        for s in range(shown):
            colour = "white" if shown == 1 else COLOURS[s]
            section.draw_contours(axes, section.cut(times[numbers[s]]), levels, 2, colors=[colour],
                                  linewidths=0.8, alpha=0.9)
        section.mark(axes, receivers, **_sheets.RECEIVER)
        for s, point in enumerate(sources):
            family = np.flatnonzero(numbers == s)
            colour = COLOURS[family[0]] if shown > 1 and len(family) else "#ffd60a"
            section.mark(axes, [point], **_sheets.source_style(colour, 14))
    _sheets.colour_bar(axes, image, "Velocity (m/s)")
    return sheet.figure


def rays(rays, velocity, *, spacing, origin=0.0, sources, receivers=None, times=None, most_rays=240,
         most_sources=8, colour_map=None, title="First arrivals"):
    """Draws rays and contours of traveltimes over the velocity; in 3D those of the first source.

    Parameters
    ----------
    rays : moho.Rays, or sequence of sequences of arrays, shape (n, 2) or (n, 3) each
        The rays; polylines in m, for each source. In 3D they are projected onto the sections.
    velocity : array, shape (nx, nz) or (nx, ny, nz)
        Velocity, m/s.
    spacing, origin : float or one for each axis
        Distance of nodes and position of the first one, m.
    sources, receivers : array, shape (n, 2) or (n, 3)
        Positions, m.
    times : array, shape (sources, nx, nz) or (sources, nx, ny, nz), optional
        Traveltimes at the nodes, s. Default: those of moho.Rays; needed with polylines.
    most_rays, most_sources : int
        Draw no more rays and sources than these, spread evenly; 1 or more.
    colour_map : str, optional
        Matplotlib's name of the colours of the velocity. Default: viridis, pale greys for several sources.
    title : str
        Text before the interval of the contours.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    PlotError
        Rays, times, velocity and positions do not fit each other.
    """
    model = _sections.model_of(np.shape(velocity), spacing, origin)
    dimensions = len(model["shape"])
    sources = _sections.points_of(sources, dimensions, "sources")
    receivers = _sections.points_of(receivers, dimensions, "receivers")
    if times is None:
        times = getattr(rays, "times", None)
    if times is None:
        raise PlotError("times: they are missing (allowed: with polylines, times at the nodes)")
    times = _times_of(times, model, len(sources))
    if hasattr(rays, "path"):
        found, (of, to) = rays, rays.traveltimes.shape
        rays = [[found.path(s, r) for r in range(to) if len(found.path(s, r))] for s in range(of)]
    if not len(rays) == len(sources) == len(times):
        raise PlotError(f"there are rays of {len(rays)} sources, times of {len(times)} and {len(sources)} "
                        "sources (allowed: equal numbers)")
    if min(most_rays, most_sources) < 1:
        raise PlotError("most_rays and most_sources must be 1 or more")

    def thinned(source, most):
        lines = rays[source]
        return lines[::max(1, -(-len(lines) // max(most, 1)))]

    draw = _rays_2d if dimensions == 2 else _rays_3d
    return draw(model, velocity, times, thinned, sources, receivers, (most_rays, most_sources), colour_map,
                title)


def _colours_of(name, several):
    """Returns the velocity's colours: matplotlib's viridis, or pale greys below rays of several colours."""
    if name:
        return name
    if not several:
        return "viridis"
    shades = plt.get_cmap("bone_r")(np.linspace(0.02, 0.50, 256))
    return matplotlib.colors.ListedColormap(shades, name="pale")


def _rays_2d(model, velocity, times, thinned, sources, receivers, most, colour_map, title):
    section = _sections.Section(model, (0, 1))
    shown = min(len(sources), most[1])
    # evenly spaced from the first to the last
    numbers = np.linspace(0, len(sources) - 1, shown).round().astype(int)
    levels = _time_levels(np.asarray(times[numbers]), 18 if shown == 1 else 9)
    step = f", contours every {levels[0]:.6g} s" if len(levels) else ""
    more = "" if shown == len(sources) else f" ({shown} of them drawn, spread evenly)"
    size = _sheets.panel_sizes([section], 9.6, 9.0)[0]
    sheet = _sheets.Sheet([size[0]], [size[1]], title + more + step)
    axes = sheet.panel(0, 0)
    values = section.cut(velocity)
    limits = _sheets.limits_of(values)
    image = section.draw(axes, values, cmap=_colours_of(colour_map, shown > 1), vmin=limits[0],
                         vmax=limits[1])
    for s in range(shown):
        colour = "white" if shown == 1 else COLOURS[s % len(COLOURS)]
        if s == 0 or shown <= 4:  # more sets of contours cannot be distinguished
            section.draw_contours(axes, section.cut(times[numbers[s]]), levels, 2, colors=[colour],
                                  linewidths=0.8 if shown == 1 else 0.5, alpha=0.9)
    for s in range(shown):
        colour = "black" if shown == 1 else COLOURS[s % len(COLOURS)]
        section.draw_lines(axes, thinned(numbers[s], most[0] // shown), colour, 0.7 if shown == 1 else 0.9)
    section.mark(axes, receivers, **_sheets.RECEIVER)
    for s in range(shown):
        section.mark(axes, sources[numbers[s]:numbers[s] + 1],
                     **_sheets.source_style("#ffd60a" if shown == 1 else COLOURS[s % len(COLOURS)], 15))
    _sheets.colour_bar(axes, image, "Velocity (m/s)")
    return sheet.figure


def _rays_3d(model, velocity, times, thinned, sources, receivers, most, colour_map, title):
    source = sources[0]
    xz, yz, xy = _sections.sections_through(model, source)
    # xz below left, yz below right, xy above xz, at the same scale if no section is exaggerated
    sizes = _sheets.panel_sizes([xz, yz], 9.2, 6.5)
    flat = sizes[0][0] * xy.lengths[1] * xy.exaggeration / xy.lengths[0]
    levels = _time_levels(np.asarray(times[0]), 12)
    sheet = _sheets.Sheet([max(sizes[0][0], 2.2), max(sizes[1][0], 2.4)],
                          [min(flat, 7.0), max(h for _, h in sizes)], title, across=1.0)
    lines = thinned(0, most[0])
    parts = [section.cut(velocity) for section in (xy, xz, yz)]
    limits = _sheets.limits_of(*parts)
    for section, part, place in zip((xy, xz, yz), parts, ((0, 0), (1, 0), (1, 1))):
        axes = sheet.panel(*place, section.title, 9)
        image = section.draw(axes, part, cmap=_colours_of(colour_map, False), vmin=limits[0], vmax=limits[1])
        section.draw_contours(axes, section.cut(times[0]), levels, 2, colors=["white"], linewidths=0.8,
                              alpha=0.9)
        section.draw_lines(axes, lines, "black", 0.6)
        section.mark(axes, receivers, **_sheets.RECEIVER)
        section.mark(axes, [source], **_sheets.source_style(size=15))
    corner = sheet.panel(0, 1)
    corner.axis("off")
    bar = sheet.figure.colorbar(image, cax=corner.inset_axes([0.05, 0.45, 0.9, 0.07]),
                                orientation="horizontal", ticks=MaxNLocator(4))
    bar.set_label("Velocity (m/s)")
    text = "rays of source 1, projected onto the sections;\nreceivers within half a spacing of a section"
    if len(levels):
        text = f"contours every {levels[0]:.6g} s\n" + text
    corner.text(0.5, 0.95, text, ha="center", va="top", fontsize=8, color="0.3", transform=corner.transAxes)
    return sheet.figure
