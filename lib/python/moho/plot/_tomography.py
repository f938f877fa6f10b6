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


def _sections_of(model, coverage, elevations):
    """Returns the section of a 2D model, or the middle planes of a volume and the depth with most rays."""
    point = [o + h * (n // 2) for o, h, n in zip(model["origin"], model["spacing"], model["shape"])]
    if len(point) == 3 and np.max(coverage, initial=0.0) > 0.0:
        layer = int(np.argmax(np.sum(coverage, axis=(0, 1))))
        point[2] = model["origin"][2] + model["spacing"][2] * layer
    sections = _sections.sections_through(model, point)
    for section in sections:
        section.elevations = elevations
        if section.is_map and elevations:
            section.title = f"elevation {0.0 - section.position:g} m"
    return sections


def _draw_ground(axes, section, ground):
    if ground is not None:
        axes.plot(section.coordinates[0] / section.unit[0], np.asarray(ground) / section.unit[0], "k-",
                  linewidth=0.9)


def tomography(velocity, *, coverage, deviation, spacing, origin=0.0, rays=(), sources=None, receivers=None,
               ground=None, elevations=False, title="First-arrival tomography"):
    """Draws a velocity from traveltimes, the coverage by rays, and the posterior deviation.

    Velocities are pale where the deviation is above two thirds of the largest, and blank without rays. In 3D
    sections through the middle are drawn, and the depth with most rays.

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
    elevations : bool
        True: the vertical axis is labelled with elevations, -z.
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
    sections = _sections_of(model, coverage, elevations)
    sizes = _sheets.panel_sizes(sections, 9.6, 5.0 if dimensions == 2 else 4.0)
    sheet = _sheets.Sheet([w for w, _ in sizes], [max(h for _, h in sizes)] * 3, title)
    opacity = _shading(coverage, deviation)
    shown = np.asarray(velocity)[opacity > 0.3]
    if 2 * shown.size < np.count_nonzero(opacity):  # most of the model is pale
        shown = np.asarray(velocity)[opacity > 0.0]
    limits = _sheets.limits_of(shown if shown.size else np.asarray(velocity))
    covers = np.concatenate([section.cut(coverage).ravel() for section in sections])
    deviations = np.concatenate([section.cut(deviation).ravel() for section in sections])[covers > 0.0]
    most = np.percentile(covers[covers > 0.0], 95) if (covers > 0.0).any() else 1.0
    narrow, wide = _sheets.limits_of(deviations)
    lines = list(rays)[::max(1, -(-len(rays) // MOST_RAYS))] if dimensions == 2 else []
    for column, section in enumerate(sections):
        axes = sheet.panel(0, column, section.title or "Velocity; pale: hardly determined, blank: no ray", 9)
        image = section.draw(axes, section.cut(velocity), cmap="turbo", vmin=limits[0],
                             vmax=limits[1], alpha=section.cut(opacity))
        section.mark(axes, receivers, **_sheets.RECEIVER)
        section.mark(axes, sources, **_sheets.source_style(size=9))
        below = sheet.panel(1, column, "" if section.title else "Rays over the coverage", 9)
        cover = section.cut(coverage)
        rays_image = section.draw(below, np.where(cover > 0.0, cover, np.nan), cmap="Greys", vmin=0.0,
                                  vmax=most)
        if lines:
            section.draw_lines(below, lines, "tab:blue", 0.3)
        last = sheet.panel(2, column, "" if section.title else "Posterior deviation of ln v", 9)
        deviation_image = section.draw(last, np.where(cover > 0.0, section.cut(deviation), np.nan),
                                       cmap="viridis_r", vmin=narrow, vmax=wide)
        for panel in (axes, below, last):
            _draw_ground(panel, section, ground)
    _sheets.colour_bar(axes, image, "Velocity (m/s)")
    _sheets.colour_bar(below, rays_image, "Rays (m)", extend=_sheets.extend_of(covers, 0.0, most))
    _sheets.colour_bar(last, deviation_image, "Deviation")
    return sheet.figure


def _in_boreholes(picks):
    """Returns true for receivers whose depths differ more than their x."""
    return "rz" in picks and "sz" in picks and np.ptp(picks["rz"]) > np.ptp(picks["rx"])


def _draw_times(sheet, picks):
    """Draws picks and predictions over x of receivers, their depth in boreholes, or offsets in volumes."""
    over, label, style = picks["rx"], "x (m)", "-"
    if "ry" in picks:
        over, label, style = picks["offset"], "Offset (m)", "."
    elif _in_boreholes(picks):
        over, label = picks["rz"], "z of the receiver (m)"
    axes = sheet.panel(0, 0, f"Picks (crosses) and predictions ({'dots' if style == '.' else 'lines'})", 9)
    for k, source in enumerate(np.unique(picks["source"])):
        of = np.flatnonzero(picks["source"] == source)
        of = of[np.argsort(over[of])]
        colour = _sheets.COLOURS[k % len(_sheets.COLOURS)]
        axes.plot(over[of], 1e3 * picks["time"][of], "x", color=colour, markersize=3)
        axes.plot(over[of], 1e3 * picks["predicted"][of], style, color=colour, linewidth=0.8, markersize=2)
    axes.set_xlabel(label)
    axes.set_ylabel("Time (ms)")
    axes.invert_yaxis()


def traveltime_fit(picks, *, title=""):
    """Draws picks and predictions, residuals over offsets, their distribution, and a table by station.

    Parameters
    ----------
    picks : mapping of str to array, shape (n,)
        "source" and "receiver" (numbers from 0), "rx" (position of the receiver, m), "offset" (m), "time",
        "predicted" and "residual" (s), "z" (residual over error), "flag" (above 0: drawn as an outlier).
        With "sz" and "rz" those between boreholes are drawn over the depth of receivers, and over distances.
        With "ry", that of volumes, times are drawn over the offset.
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
    picks = {name: np.asarray(values) for name, values in picks.items()}
    sheet = _sheets.Sheet([4.4, 4.4], [3.4, 3.4], title)
    _draw_times(sheet, picks)
    flagged = picks["flag"] > 0
    far, name = picks["offset"], "offset"
    if _in_boreholes(picks):
        far, name = np.hypot(far, picks["rz"] - picks["sz"]), "distance"
    axes = sheet.panel(0, 1, f"Residuals over the {name}" + ("; red: flagged" if flagged.any() else ""), 9)
    axes.plot(far[~flagged], 1e3 * picks["residual"][~flagged], ".", markersize=3)
    axes.plot(far[flagged], 1e3 * picks["residual"][flagged], "rx", markersize=4)
    axes.axhline(0.0, color="black", linewidth=0.6)
    axes.set_xlabel(f"{name.capitalize()} (m)")
    axes.set_ylabel("Residual (ms)")
    axes = sheet.panel(1, 0, "Residuals over their errors, and the normal curve", 9)
    z = np.clip(picks["z"], -6.0, 6.0)
    axes.hist(z, bins=48, range=(-6.0, 6.0), density=True, color="tab:blue", alpha=0.6)
    line = np.linspace(-6.0, 6.0, 200)
    axes.plot(line, np.exp(-0.5 * line**2) / np.sqrt(2.0 * np.pi), "k-", linewidth=0.9)
    beyond = " (outer bars: beyond 6)" if (np.abs(picks["z"]) > 6.0).any() else ""
    axes.set_xlabel("Residual / error" + beyond)
    axes = sheet.panel(1, 1, "Residual / error by source and receiver: a stripe is a bad station", 9)
    table = np.full((int(picks["source"].max()) + 1, int(picks["receiver"].max()) + 1), np.nan)
    table[picks["source"].astype(int), picks["receiver"].astype(int)] = picks["z"]
    count, receivers = table.shape
    numbers = (0.5, receivers + 0.5, count + 0.5, 0.5)  # from 1, as in messages
    image = axes.imshow(
        table, cmap="RdBu", vmin=-4.0, vmax=4.0, aspect="auto", interpolation="nearest", extent=numbers
    )
    for axis, label in ((axes.xaxis, "Receiver"), (axes.yaxis, "Source")):
        axis.set_label_text(label)
        axis.get_major_locator().set_params(integer=True)
    _sheets.colour_bar(axes, image, "Residual / error", extend="both")
    return sheet.figure
