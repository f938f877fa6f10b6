# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of gravity: maps of components, sections of densities, fits of data."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.axes_grid1 import make_axes_locatable

from . import _sheets
from ._sheets import PlotError

UNITS = {"m2/s2": "m²/s²", "mGal": "mGal", "Eotvos": "E"}
LABELS = {"potential": "U", "gx": "g$_x$", "gy": "g$_y$", "gz": "g$_z$", "gxx": "g$_{xx}$", "gyy": "g$_{yy}$",
          "gzz": "g$_{zz}$", "gxy": "g$_{xy}$", "gxz": "g$_{xz}$", "gyz": "g$_{yz}$",
          "total": "total-field anomaly", "bx": "B$_x$", "by": "B$_y$", "bz": "B$_z$"}
MAGNETIC = ("total", "bx", "by", "bz")
MISSING = "#b0b0b0"


def unit_of(name):
    """Returns the unit of a component: that of its number of derivatives, or of a magnetic field."""
    if name in MAGNETIC:
        return "nT"
    return {"potential": "m²/s²"}.get(name) or ("mGal" if len(name) == 2 else "E")


class _Stations:
    """Positions of stations: a grid, or a list."""

    def __init__(self, stations, grid):
        if (stations is None) == (grid is None):
            raise PlotError("the stations are not given once (needed: stations, or grid): give one of these")
        self.grid = None
        if grid is not None:
            nx, ny, dx, dy, x0, y0 = (float(v) for v in grid)
            self.grid = (dx, dy)
            self.shape = (int(ny), int(nx))
            self.x, self.y = x0 + dx * np.arange(int(nx)), y0 + dy * np.arange(int(ny))
        else:
            stations = np.asarray(stations)
            self.shape = (len(stations),)
            self.x, self.y = np.asarray(stations[:, 0]), np.asarray(stations[:, 1])
        span = max(np.ptp(self.x), np.ptp(self.y))
        self.unit = (1000.0, "km") if span > 3000.0 else (1.0, "m")


def _edges(centres, spacing):
    """Returns the edges of the cells around centres."""
    return np.concatenate([centres - 0.5 * spacing, centres[-1:] + 0.5 * spacing])


def _colours(values, name):
    """Returns colour map and limits, symmetric about 0 if a component has large values of both signs."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if low < 0.0 < high and min(-low, high) > 0.2 * max(-low, high):
        most = max(-low, high)
        return name or "RdBu_r", -most, most
    if low == high:
        low, high = low - max(abs(low), 1e-30), high + max(abs(high), 1e-30)
    return name or "viridis", low, high


def _draw_values(axes, values, stations, x_right, colour_map, most):
    """Draws the values of a map; returns the image."""
    unit = stations.unit
    x, y = stations.x / unit[0], stations.y / unit[0]
    if stations.grid:
        # more cells than pixels cost time and are not visible
        step_y, step_x = (max(1, -(-n // most[0])) for n in values.shape)
        shown = np.asarray(values[::step_y, ::step_x], dtype=float)
        x = _edges(x[::step_x], step_x * stations.grid[0] / unit[0])
        y = _edges(y[::step_y], step_y * stations.grid[1] / unit[0])
    else:
        step = max(1, -(-len(values) // most[1]))
        shown, x, y = np.asarray(values[::step], dtype=float), x[::step], y[::step]
    colour_map, low, high = _colours(shown, colour_map)
    colour_map = plt.get_cmap(colour_map).copy()
    colour_map.set_bad(MISSING)
    shown = np.ma.masked_invalid(shown)
    axes.set_facecolor(MISSING if stations.grid else "white")
    style = dict(cmap=colour_map, vmin=low, vmax=high)
    if stations.grid:
        return (axes.pcolormesh(x, y, shown, rasterized=True, **style) if x_right else
                axes.pcolormesh(y, x, shown.T, rasterized=True, **style))
    size = float(np.clip(20000.0 / max(len(x), 1), 2.0, 60.0))
    horizontal, vertical = (x, y) if x_right else (y, x)
    missing = np.ma.getmaskarray(shown)
    axes.scatter(horizontal[missing], vertical[missing], s=size, c="none", edgecolors=MISSING, linewidths=0.6)
    return axes.scatter(horizontal[~missing], vertical[~missing], s=size, c=shown[~missing], linewidths=0.2,
                        edgecolors="0.3" if size > 6 else "none", **style)


def _draw_map(axes, name, values, stations, x_right, colour_map, most):
    """Draws one map with its colour bar."""
    unit = stations.unit
    image = _draw_values(axes, values, stations, x_right, colour_map, most)
    right, up = ("x", "y") if x_right else ("y", "x")
    names = {"x": "x, north", "y": "y, east"}
    axes.set_xlabel(f"{names[right]} ({unit[1]})")
    axes.set_ylabel(f"{names[up]} ({unit[1]})")
    # true proportions, unless the map is very long
    spans = [float(np.ptp(stations.x)), float(np.ptp(stations.y))]
    if stations.grid:
        spans = [spans[0] + stations.grid[0], spans[1] + stations.grid[1]]
    if not x_right:
        spans.reverse()
    if min(spans) > 0.0:
        factor = _sheets.exaggeration_of(*spans)
        axes.set_aspect(factor)
        for label, text in zip((axes.xaxis.label, axes.yaxis.label), _sheets.exaggeration_texts(factor)):
            label.set_text(label.get_text() + text)
    # as high as the map, whatever its shape
    place = make_axes_locatable(axes).append_axes("right", size=0.16, pad=0.1)
    bar = axes.figure.colorbar(image, cax=place)
    bar.set_label(f"{LABELS[name]} ({unit_of(name)})")
    bar.formatter.set_powerlimits((-4, 5))
    bar.update_ticks()
    axes.set_title(f"{LABELS[name]}", fontsize=11)


def _map_size(stations, x_right):
    """Returns the width and height of one map according to its shape."""
    spans = [max(float(np.ptp(stations.y)), 1e-9), max(float(np.ptp(stations.x)), 1e-9)]
    if x_right:
        spans.reverse()
    ratio = float(np.clip(spans[1] / spans[0], 0.3, 2.0))
    return (5.4, 3.9 * ratio + 0.85) if ratio <= 1.2 else (4.7 / ratio + 1.5, 5.55)


def gravity(values, *, components, stations=None, grid=None, x_right=False, colour_map=None, title="",
            single=False, most_cells=1500, most_points=200000):
    """Draws maps of gravity or of a magnetic field, from above with north (x) up and east (y) to the right.

    Parameters
    ----------
    values : sequence of arrays, shape (stations,) or (ny, nx) each
        A row for each component, as moho.gravity() returns them, in m2/s2, mGal and Eotvos, or in nT; NaN is
        grey.
    components : str or sequence of str
        Their names, such as "gz,gzz"; of magnetic fields: total, bx, by, bz.
    stations : array, shape (n, 3), optional
        Rows x, y, z in m. Instead: grid.
    grid : sequence of 6 numbers, optional
        nx, ny, dx, dy, x0, y0: numbers of stations, their distances and the position of the first one in m;
        y is the slower axis of the values.
    x_right : bool
        True: x to the right and y up.
    colour_map : str, optional
        Matplotlib's name of the colours. Default: RdBu_r about 0, viridis for one sign.
    title : str
        Text above the maps.
    single : bool
        True: one large map; there must be one component.
    most_cells, most_points : int
        Draw no more cells along an axis of a grid and no more stations of a list than these.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    PlotError
        Values, components and stations do not fit each other, or a component is unknown.
    """
    names = [n.strip() for n in components.split(",")] if isinstance(components, str) else list(components)
    unknown = [name for name in names if name not in LABELS]
    if unknown or not names:
        raise PlotError(f"components: {unknown or 'there is none'} (allowed: {', '.join(LABELS)})")
    places = _Stations(stations, grid)
    size = int(np.prod(places.shape))
    if len(values) != len(names) or any(np.size(row) != size for row in values) or (single and names[1:]):
        raise PlotError(f"values: there are {len(values)} rows for {len(names)} components at {size} "
                        "stations (allowed: a row for each component, a number for each station)")
    rows = [row.reshape(places.shape) if hasattr(row, "reshape") else np.reshape(row, places.shape)
            for row in values]
    most = (most_cells, most_points)
    width, height = _map_size(places, x_right)
    if single:
        figure, axes = plt.subplots(figsize=(1.25 * width, 1.25 * height))
        _draw_map(axes, names[0], rows[0], places, x_right, colour_map, most)
        figure.suptitle(title, fontsize=9)
        figure.tight_layout()
        return figure
    columns = min(3, len(names))
    boxes = [(k // columns, k % columns) for k in range(len(names))]
    if len(names) == 10:  # the potential next to the attraction, the gradient below
        columns = 4
        boxes = [(0, 0)] + [(k // 3, k % 3 + 1) for k in range(9)]
    scale = min(1.0, 20.0 / (columns * width))
    high = boxes[-1][0] + 1
    figure = plt.figure(figsize=(columns * width * scale, high * height * scale + 0.4))
    cells = figure.add_gridspec(high, columns)
    for name, row, box in zip(names, rows, boxes):
        _draw_map(figure.add_subplot(cells[box]), name, row, places, x_right, colour_map, most)
    figure.suptitle(title, fontsize=11)
    figure.tight_layout()
    return figure


def _body_labels(mask, rounds=300):
    """Numbers connected cells alike, by faces; 0 is outside of the mask. `rounds` may cut long bodies."""
    labels = np.where(mask, np.arange(1, mask.size + 1).reshape(mask.shape), 0)
    for _ in range(rounds):
        before = labels.copy()
        for axis in range(3):
            low, high = ([slice(None)] * axis + [part] for part in (slice(None, -1), slice(1, None)))
            for to, other in ((tuple(low), tuple(high)), (tuple(high), tuple(low))):
                labels[to] = np.where(mask[to], np.maximum(labels[to], labels[other]), 0)
        if np.array_equal(labels, before):
            break
    return labels


def strongest_body(model):
    """Returns the cell (i, j, k) at the centre of the strongest body of densities (nz, ny, nx).

    Bodies are connected cells of one sign with at least half of the largest absolute density; the strongest
    one has the largest sum of densities. If its centre of mass is outside of it, its nearest cell is taken.
    """
    model = np.nan_to_num(np.asarray(model, dtype=float))
    largest = np.abs(model).max()
    if largest == 0.0:
        return tuple(n // 2 for n in reversed(model.shape))
    best, body = 0.0, None
    for sign in (1.0, -1.0):
        mask = sign * model >= 0.5 * largest
        labels = _body_labels(mask)
        names, places = np.unique(labels[mask], return_inverse=True)
        sums = np.bincount(places, weights=np.abs(model[mask])) if names.size else np.zeros(1)
        if sums.max() > best:
            best, body = sums.max(), labels == names[sums.argmax()]
    cells = np.argwhere(body)
    weights = np.abs(model[body])
    centre = (cells * weights[:, None]).sum(axis=0) / weights.sum()
    nearest = cells[((cells - centre) ** 2).sum(axis=1).argmin()]
    return tuple(int(n) for n in nearest[::-1])


def densities(models, *, mesh, centre=None, colour_map=None):
    """Draws sections of densities on the cells of a mesh: a map, and both vertical sections.

    Parameters
    ----------
    models : mapping of str to array, shape (nz, ny, nx)
        Densities in kg/m3 by title; all have one scale of colours. NaN is blank.
    mesh : sequence of 9 numbers
        nx, ny, nz, x1, x2, y1, y2, z1, z2: the box in m, divided into nx x ny x nz prisms.
    centre : str, optional
        Title of the model through whose strongest body the sections lie: the centre of the connected
        cells of one sign, with half of the largest density at least, that have the largest sum of
        densities. Default: the first.
    colour_map : str, optional
        Matplotlib's name of the colours. Default: RdBu_r about 0, viridis for densities of 0 or more.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    PlotError
        A model does not have the shape of the mesh.
    """
    shape = tuple(int(n) for n in mesh[2::-1])
    arrays = {
        title: _sheets.reals(values, "models")
        for title, values in _sheets.mapping_of(models, "models").items()
    }
    if not arrays or any(values.shape != shape for values in arrays.values()):
        raise PlotError(f"models: there is none, or its shape is not that of the mesh (allowed: {shape})")
    x, y, z = (np.linspace(mesh[3 + 2 * a], mesh[4 + 2 * a], int(mesh[a]) + 1) for a in range(3))
    span = max(x[-1] - x[0], y[-1] - y[0])
    scale, unit = (1e-3, "km") if span > 3000.0 else (1.0, "m")
    chosen = centre if centre is not None else next(iter(arrays))
    i, j, k = strongest_body(arrays[chosen])
    most = max((float(np.nanmax(np.abs(v))) for v in arrays.values()), default=0.0) or 1.0
    low = -most if min(float(np.nanmin(v)) for v in arrays.values()) < 0.0 else 0.0
    colours = dict(cmap=colour_map or ("RdBu_r" if low < 0.0 else "viridis"), vmin=low, vmax=most)
    height = 3.7 * len(arrays) + 0.4
    figure, rows = plt.subplots(len(arrays), 4, figsize=(13.0, height), squeeze=False,
                                gridspec_kw={"width_ratios": [1.0, 1.15, 1.15, 0.04]})
    figure.subplots_adjust(left=0.065, right=0.935, bottom=0.55 / height, top=1.0 - 0.75 / height,
                           wspace=0.3, hspace=0.35)
    for axes, (title, density) in zip(rows, arrays.items()):
        density = np.ma.masked_invalid(density)
        middle = [0.5 * (edges[n] + edges[n + 1]) * scale for edges, n in ((x, i), (y, j), (z, k))]
        axes[0].pcolormesh(y * scale, x * scale, density[k].T, **colours)
        axes[0].set(xlabel=f"y, east ({unit})", ylabel=f"x, north ({unit})",
                    title=f"{title}, z = {middle[2]:.4g} {unit}")
        axes[1].pcolormesh(x * scale, z * scale, density[:, j, :], **colours)
        axes[1].set(xlabel=f"x, north ({unit})", ylabel=f"z, down ({unit})",
                    title=f"y = {middle[1]:.4g} {unit}")
        image = axes[2].pcolormesh(y * scale, z * scale, density[:, :, i], **colours)
        axes[2].set(xlabel=f"y, east ({unit})", ylabel=f"z, down ({unit})",
                    title=f"x = {middle[0]:.4g} {unit}")
        for panel in axes[:3]:
            panel.set_aspect("equal", adjustable="box")
        for panel in axes[1:3]:
            panel.invert_yaxis()
        figure.colorbar(image, cax=axes[3], label="kg/m³")
    figure.suptitle(f"sections through the strongest body of: {chosen}", fontsize=11)
    return figure


def gravity_fit(fits, *, stations):
    """Draws data, field of a model, and residuals over errors at stations, a row for each component.

    Parameters
    ----------
    fits : mapping of str to mapping
        By component: "data", "field" and "residual" (over its error), arrays of a number for each station
        in mGal, Eotvos or m2/s2; NaN is not drawn. "chi2": chi^2 a value, for the title.
    stations : array, shape (n, 2) or (n, 3)
        Rows x, y in m; z is not used.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    PlotError
        There is no component, or arrays differ in length.
    """
    stations = np.asarray(stations, dtype=float)
    lengths = {np.size(fit[key]) for fit in fits.values() for key in ("data", "field", "residual")}
    if lengths != {len(stations)}:
        raise PlotError(f"fits: lengths are {sorted(lengths)} (allowed: {len(stations)}, that of stations)")
    figure, rows = plt.subplots(len(fits), 3, figsize=(13.0, 4.0 * len(fits)), squeeze=False)
    x, y = stations[:, 0], stations[:, 1]
    unit = (1e-3, "km") if max(np.ptp(x), np.ptp(y)) > 3000.0 else (1.0, "m")
    size = float(np.clip(20000.0 / max(len(x), 1), 2.0, 60.0))
    for axes, (name, fit) in zip(rows, _sheets.mapping_of(fits, "fits").items()):
        data, field, residual = (np.asarray(fit[key], dtype=float) for key in ("data", "field", "residual"))
        finite = np.concatenate([data[np.isfinite(data)], field[np.isfinite(field)]])
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        worst = float(np.nanmax(np.abs(residual))) if np.isfinite(residual).any() else 1.0
        limit = max(3.0, min(worst, 10.0))
        for panel, values, title, style in (
                (axes[0], data, f"{name}: data without trend ({unit_of(name)})", dict(vmin=low, vmax=high)),
                (axes[1], field, f"{name}: field of the model ({unit_of(name)})", dict(vmin=low, vmax=high)),
                (axes[2], residual, f"{name}: residual / error, chi² {fit['chi2']:.2f}",
                 dict(cmap="RdBu_r", vmin=-limit, vmax=limit))):
            there = np.isfinite(values)
            image = panel.scatter(y[there] * unit[0], x[there] * unit[0], c=values[there], s=size,
                                  linewidths=0, marker="s", **style)
            panel.set_title(title, fontsize=10)
            panel.set(xlabel=f"y, east ({unit[1]})", ylabel=f"x, north ({unit[1]})")
            panel.set_aspect("equal", adjustable="box")
            figure.colorbar(image, ax=panel, shrink=0.8)
    figure.tight_layout()
    return figure
