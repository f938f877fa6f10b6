# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of traveltime tomography: the model with rays and coverage, the fit of the picks."""

from __future__ import annotations

import numpy as np

from . import _sections, _sheets
from ._sheets import PlotError

MOST_RAYS = 300


def _shading(coverage, deviation):
    """Returns opacities: 0 where no ray is, less where the deviation is above two thirds of the largest."""
    most = np.max(deviation) if deviation.size else 1.0
    fade = np.clip((most - deviation) / (most / 3.0), 0.25, 1.0)
    return np.where(coverage > 0.0, fade, 0.0)


def _draw_ground(axes, section, ground):
    if ground is not None:
        axes.plot(section.coordinates[0] / section.unit[0], np.asarray(ground) / section.unit[0], "k-",
                  linewidth=0.9)


def tomography(velocity, *, coverage, deviation, spacing, origin=0.0, rays=(), sources=None, receivers=None,
               ground=None, title="First-arrival tomography"):
    """Draws a velocity from traveltimes, the coverage by rays, and the posterior deviation.

    Velocities are pale where the deviation is above two thirds of the largest, and blank without rays. In 3D
    sections through the middle are drawn.

    Parameters
    ----------
    velocity : array, shape (nx, nz) or (nx, ny, nz)
        m/s.
    coverage : array of the shape of velocity
        Length of rays at a node, m; such as the sums of the columns of moho.Rays.matrix().
    deviation : array of the shape of velocity
        Standard deviation of ln v.
    spacing, origin : float or one for each axis
        Distance of nodes and position of the first one, m.
    rays : sequence of arrays, shape (n, 2)
        Polylines in m, drawn in 2D; at most 300 of them.
    sources, receivers : array, shape (n, 2) or (n, 3), optional
        Positions to mark, m.
    ground : array, shape (nx,), optional
        Depth of the ground in 2D, m.
    title : str
        Text above all panels.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    PlotError
        Arrays and positions do not fit each other.
    """
    model = _sections.model_of(np.shape(velocity), spacing, origin)
    dimensions = len(model["shape"])
    coverage, deviation = (np.asarray(_sections.same_shape(array, model, name))
                           for array, name in ((coverage, "coverage"), (deviation, "deviation")))
    sources = _sections.points_of(sources, dimensions, "sources")
    receivers = _sections.points_of(receivers, dimensions, "receivers")
    if ground is not None and np.shape(ground) != tuple(model["shape"][:1]):
        raise PlotError(f"ground: its shape is {np.shape(ground)} (allowed: {tuple(model['shape'][:1])})")
    sections = _sections.middle_sections(model, True)
    sizes = _sheets.panel_sizes(sections, 9.6, 5.0 if dimensions == 2 else 4.0)
    sheet = _sheets.Sheet([w for w, _ in sizes], [max(h for _, h in sizes)] * 3, title)
    opacity = _shading(coverage, deviation)
    shown = np.asarray(velocity)[opacity > 0.3]
    limits = _sheets.limits_of(shown if shown.size else np.asarray(velocity))
    lines = list(rays)[::max(1, -(-len(rays) // MOST_RAYS))] if dimensions == 2 else []
    for column, section in enumerate(sections):
        axes = sheet.panel(0, column, section.title or "Velocity; pale: hardly determined, blank: no ray", 9)
        image = section.draw(axes, section.cut(velocity), cmap="turbo", vmin=limits[0],
                             vmax=limits[1], alpha=section.cut(opacity))
        section.mark(axes, receivers, **_sheets.RECEIVER)
        section.mark(axes, sources, **_sheets.source_style(size=9))
        below = sheet.panel(1, column, "" if section.title else "Rays over the coverage", 9)
        cover = section.cut(coverage)
        most = np.percentile(cover[cover > 0.0], 95) if (cover > 0.0).any() else 1.0
        rays_image = section.draw(below, np.where(cover > 0.0, cover, np.nan), cmap="Greys", vmin=0.0,
                                  vmax=most)
        if lines:
            section.draw_lines(below, lines, "tab:blue", 0.3)
        last = sheet.panel(2, column, "" if section.title else "Posterior deviation of ln v", 9)
        deviation_image = section.draw(last, np.where(cover > 0.0, section.cut(deviation), np.nan),
                                       cmap="viridis_r")
        for panel in (axes, below, last):
            _draw_ground(panel, section, ground)
    _sheets.colour_bar(axes, image, "Velocity (m/s)")
    _sheets.colour_bar(below, rays_image, "Rays (m)")
    _sheets.colour_bar(last, deviation_image, "Deviation")
    return sheet.figure


def traveltime_fit(picks, *, title=""):
    """Draws picks and predictions, residuals over offsets, their distribution, and a table by station.

    Parameters
    ----------
    picks : mapping of str to array, shape (n,)
        "source" and "receiver" (numbers from 0), "rx" (position of the receiver, m), "offset" (m), "time",
        "predicted" and "residual" (s), "z" (residual over error), "flag" (above 0: drawn as an outlier).
    title : str
        Text above all panels.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    PlotError
        A column is missing or has another length.
    """
    names = ("source", "receiver", "rx", "offset", "time", "predicted", "residual", "z", "flag")
    missing = [name for name in names if name not in picks]
    if missing or len({len(picks[name]) for name in names}) != 1 or not len(picks["time"]):
        raise PlotError(f"picks: {', '.join(missing) or 'columns differ in length or are empty'} (allowed: "
                        f"{', '.join(names)}, each with a number for each pick)")
    picks = {name: np.asarray(picks[name]) for name in names}
    sheet = _sheets.Sheet([4.4, 4.4], [3.4, 3.4], title)
    axes = sheet.panel(0, 0, "Picks (crosses) and predictions (lines)", 9)
    for k, source in enumerate(np.unique(picks["source"])):
        of = np.flatnonzero(picks["source"] == source)
        of = of[np.argsort(picks["rx"][of])]
        colour = _sheets.COLOURS[k % len(_sheets.COLOURS)]
        axes.plot(picks["rx"][of], 1e3 * picks["time"][of], "x", color=colour, markersize=3)
        axes.plot(picks["rx"][of], 1e3 * picks["predicted"][of], "-", color=colour, linewidth=0.8)
    axes.set_xlabel("x (m)")
    axes.set_ylabel("Time (ms)")
    axes.invert_yaxis()
    axes = sheet.panel(0, 1, "Residuals over the offset", 9)
    flagged = picks["flag"] > 0
    axes.plot(picks["offset"][~flagged], 1e3 * picks["residual"][~flagged], ".", markersize=3)
    axes.plot(picks["offset"][flagged], 1e3 * picks["residual"][flagged], "rx", markersize=4)
    axes.axhline(0.0, color="black", linewidth=0.6)
    axes.set_xlabel("Offset (m)")
    axes.set_ylabel("Residual (ms)")
    axes = sheet.panel(1, 0, "Residuals over their errors, and the normal curve", 9)
    z = np.clip(picks["z"], -6.0, 6.0)
    axes.hist(z, bins=48, range=(-6.0, 6.0), density=True, color="tab:blue", alpha=0.6)
    line = np.linspace(-6.0, 6.0, 200)
    axes.plot(line, np.exp(-0.5 * line**2) / np.sqrt(2.0 * np.pi), "k-", linewidth=0.9)
    axes.set_xlabel("Residual / error")
    axes = sheet.panel(1, 1, "Residual / error by source and receiver: a stripe is a bad station", 9)
    table = np.full((int(picks["source"].max()) + 1, int(picks["receiver"].max()) + 1), np.nan)
    table[picks["source"].astype(int), picks["receiver"].astype(int)] = picks["z"]
    image = axes.imshow(table, cmap="RdBu", vmin=-4.0, vmax=4.0, aspect="auto", interpolation="nearest")
    axes.set_xlabel("Receiver")
    axes.set_ylabel("Source")
    _sheets.colour_bar(axes, image, "Residual / error", extend="both")
    return sheet.figure
