# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of waves: gathers, and wavefields over the velocity."""

from __future__ import annotations

import numpy as np
from matplotlib.ticker import MaxNLocator

from . import _sections, _sheets
from ._sheets import MOST_DOTS, PlotError


def trace_axis(receivers, names):
    """Returns the positions against which traces are drawn, and their label.

    The positions are a coordinate that changes in one direction along the traces, without gaps of more than
    three median steps. Otherwise they are the numbers of the receivers, from 1. `receivers` may be None.
    """
    count = len(receivers) if receivers is not None else 0
    if count > 1:
        spans = np.ptp(receivers, axis=0)
        axis = int(np.argmax(spans))
        steps = np.diff(receivers[:, axis])
        one_way = spans[axis] > 0 and (np.all(steps > 0) or np.all(steps < 0))
        if one_way and np.abs(steps).max() <= 3.0 * np.median(np.abs(steps)):
            unit = _sheets.length_unit([spans[axis]])
            name = "Depth z" if names[axis] == "z" else names[axis]
            return receivers[:, axis] / unit[0], f"Receiver {name} ({unit[1]})", axis, unit
    return None, "Receiver", None, None


def draw_traces(axes, traces, start, interval, receivers, sources, names, most, colour_map="gray"):
    """Draws a gather, if possible against a coordinate of its receivers; returns the image."""
    x, label, axis, unit = (None, "Trace", None, None) if receivers is None else trace_axis(receivers, names)
    if x is None:
        x = np.arange(1, len(traces) + 1)
    elif x[0] > x[-1]:
        x, traces = x[::-1], traces[::-1]
    step_r, step_t = (max(1, -(-n // MOST_DOTS)) for n in traces.shape)
    shown = traces[::step_r, ::step_t]
    last = start + interval * (traces.shape[1] - 1)
    steps = np.diff(x)
    style = dict(cmap=colour_map, vmin=-most, vmax=most)
    if len(x) < 2 or np.ptp(steps) <= 0.02 * np.mean(steps):
        half = 0.5 * (x[-1] - x[0]) / (len(x) - 1) if len(x) > 1 else 0.5
        image = axes.imshow(shown.T, aspect="auto", interpolation="nearest", **style,
                            extent=(x[0] - half, x[-1] + half, last + 0.5 * interval, start - 0.5 * interval))
    else:
        x = x[::step_r]
        middle = 0.5 * (x[1:] + x[:-1])
        edges = np.concatenate([[1.5 * x[0] - 0.5 * x[1]], middle, [1.5 * x[-1] - 0.5 * x[-2]]])
        times = np.linspace(start - 0.5 * interval, last + 0.5 * interval, shown.shape[1] + 1)
        image = axes.pcolormesh(edges, times, shown.T, rasterized=True, **style)
        axes.invert_yaxis()
    axes.set_xlabel(label)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10], integer=axis is None))
    if axis is not None:
        left, right = axes.get_xlim()
        places = np.asarray(sources, dtype=float)[:, axis] / unit[0]
        places = places[(places >= left) & (places <= right)]
        axes.plot(places, np.full(len(places), axes.get_ylim()[1]), linestyle="none", clip_on=False,
                  **_sheets.source_style())
        # the stars extend above the panel
        axes.set_title(axes.get_title(), fontsize=axes.title.get_fontsize(), pad=10.0)
    return image


class _Traces:
    """Traces of a moho.Gather or an array, with what is known of their times and positions."""

    def __init__(self, gather, interval, start, sources, receivers):
        self.values = _sheets.reals(getattr(gather, "traces", gather), "traces")
        self.interval = getattr(gather, "interval", None) if interval is None else interval
        self.start = getattr(gather, "start", 0.0) if start is None else start
        self.sources = getattr(gather, "sources", None) if sources is None else sources
        self.receivers = getattr(gather, "receivers", None) if receivers is None else receivers
        if self.values.ndim != 2:
            raise PlotError(f"the traces have {self.values.ndim} axes (allowed: 2, receivers and samples)")
        if self.interval is None:
            raise PlotError("interval is missing (allowed: a moho.Gather, or traces with interval in s)")
        self.interval = float(_sheets.reals(self.interval, "interval"))
        if not self.interval > 0.0:
            raise PlotError(f"interval is {self.interval:g} s (allowed: above 0)")
        for name in ("sources", "receivers"):
            points = getattr(self, name)
            empty = points is None or np.size(points) == 0
            setattr(self, name, None if empty else np.atleast_2d(np.asarray(points, dtype=float)))
        if self.receivers is not None and len(self.receivers) != len(self.values):
            raise PlotError(f"there are {len(self.receivers)} receivers (allowed: {len(self.values)}, "
                            "one for each trace)")

    @property
    def names(self):
        points = self.receivers if self.receivers is not None else self.sources
        return ["x", "z"] if points is None or points.shape[1] == 2 else ["x", "y", "z"]

    def draw(self, axes, most, colour_map="gray"):
        sources = self.sources if self.sources is not None else np.zeros((0, len(self.names)))
        return draw_traces(axes, self.values, self.start, self.interval, self.receivers, sources, self.names,
                           most, colour_map)


def _clip_of_later(traces, interval, peak, percentile):
    """Returns the clip of the samples after the first arrivals; these would make later samples pale."""
    wavelet = max(1, int(2.5 * peak / interval))
    sizes = np.abs(traces)
    # a trace begins at a twentieth of its largest amplitude; its later samples begin one wavelet after that
    begin = np.argmax(sizes >= 0.05 * np.maximum(sizes.max(axis=1, keepdims=True), 1e-300), axis=1) + wavelet
    later = np.arange(traces.shape[1])[None, :] >= begin[:, None]
    values = sizes[later]
    loud = np.any(values > 1e-4 * sizes.max(initial=0.0))
    return _sheets.clip_of(values if loud else traces, percentile)


def gather(gather, *, interval=None, start=None, sources=None, receivers=None, clip=None, wavelet_peak=0.0,
           colour_map="RdBu_r", title=""):
    """Draws the traces of a shot: as curves if there are at most 12, else as an image.

    Parameters
    ----------
    gather : moho.Gather or array, shape (receivers, samples)
        The traces; for an array interval is needed.
    interval, start : float, optional
        Interval of samples and time of the first one, s. Default: those of the gather.
    sources, receivers : array, shape (n, 2) or (n, 3), optional
        Positions, m. Default: those of the gather. Traces are drawn against a coordinate of the receivers
        that changes in one direction, else against their numbers.
    clip : float, optional
        Per cent of the samples below the darkest colour, above 0 to 100. Default: 90, or 98 of what follows
        the first arrivals if that is less.
    wavelet_peak : float
        Time of the largest sample of the wavelet, s: first arrivals last 2.5 times as long.
    colour_map : str
        Matplotlib's name of the colours.
    title : str
        Text before the remark on clipping. Default: the position of the source.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    PlotError
        Traces, receivers and interval do not fit each other.
    """
    clip = _sheets.percentile_of(clip)
    shown = _Traces(gather, interval, start, sources, receivers)
    traces = shown.values
    if not title and shown.sources is not None:
        title = f"Source at {_sheets.point_text(shown.sources[0], shown.names)}"
    sheet = _sheets.Sheet([6.6], [6.0])
    if len(traces) <= 12:
        times = shown.start + shown.interval * np.arange(traces.shape[1])
        most = np.abs(traces).max(initial=0.0) or 1.0
        axes = sheet.panel(0, 0, f"{title}; one scale for all traces, largest {most:.3g}", 11)
        for r, trace in enumerate(traces):
            axes.plot(r + 1 + 0.45 * trace / most, times, color="black", linewidth=0.8)
        axes.set_ylim(times[-1], times[0])
        axes.set_xlim(0.4, len(traces) + 0.6)
        axes.set_xticks(range(1, len(traces) + 1))
        axes.set_xlabel("Receiver")
    else:
        part, what = clip or 90.0, "the samples"
        most = _sheets.clip_of(traces, part)
        later = _clip_of_later(traces, shown.interval, wavelet_peak, 98.0)
        if not clip and later < most:
            part, what, most = 98.0, "what follows the first arrivals", later
        extend = _sheets.extend_of(traces, -most, most)
        clipped = f"; clipped at {part:g} % of {what}" if extend != "neither" else ""
        axes = sheet.panel(0, 0, title + clipped)
        image = shown.draw(axes, most, colour_map)
        _sheets.colour_bar(axes, image, "Pressure", extend)
    axes.set_ylabel("Time (s)")
    return sheet.figure


def gathers(panels, *, one_scale=True, intervals=None, starts=None, sources=None, receivers=None, title=""):
    """Draws gathers next to each other, such as data, modelled traces and their difference.

    Parameters
    ----------
    panels : mapping of str to moho.Gather or array, shape (receivers, samples)
        Gathers by the titles of their panels, from left to right.
    one_scale : bool
        True: one scale of grey, that of the first panel; False: each panel has its own.
    intervals : float or sequence, optional
        Intervals of samples, s, one or one for each panel. Default: those of the gathers.
    starts : float or sequence, optional
        Times of the first samples, s. Default: those of the gathers, or 0.
    sources, receivers : array, shape (n, 2) or (n, 3), optional
        Positions, m. Default: those of the gathers.
    title : str
        Text above all panels.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    PlotError
        A gather does not fit its receivers or its interval is missing.
    """
    def of(values, k):
        return values if values is None or np.ndim(values) == 0 else values[k]

    shown = [_Traces(one, of(intervals, k), of(starts, k), sources, receivers)
             for k, one in enumerate(_sheets.mapping_of(panels, "panels").values())]
    if not shown:
        raise PlotError("panels: there is no gather (allowed: one or more)")
    width, height, across = (2.7, 4.6, 0.2) if one_scale else (4.4, 5.6, 1.9)
    sheet = _sheets.Sheet([width] * len(shown), [height], title, across=across)
    clip = _sheets.clip_of(shown[0].values, 98.0, 1e-6)
    for column, (name, one) in enumerate(zip(panels, shown)):
        if not one_scale:
            clip = _sheets.clip_of(one.values, 98.0, 1e-6)
        axes = sheet.panel(0, column, name)
        image = one.draw(axes, clip)
        if one_scale:
            axes.tick_params(labelleft=column == 0)
            axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        else:
            _sheets.colour_bar(axes, image, "Amplitude", _sheets.extend_of(one.values, -clip, clip))
        if column == 0 or not one_scale:
            axes.set_ylabel("Time (s)")
    if one_scale:
        every = np.concatenate([one.values.ravel() for one in shown])
        _sheets.colour_bar(axes, image, "Amplitude", _sheets.extend_of(every, -clip, clip))
    return sheet.figure


def snapshots(fields, times, velocity, *, spacing, origin=0.0, sources, receivers=None, domains=None,
              clip=None, colour_map="RdBu_r", title=""):
    """Draws wavefields over the velocity; in 3D as sections through the first source.

    Parameters
    ----------
    fields : sequence of arrays, shape (nx, nz) or (nx, ny, nz) each
        Pressure at the nodes; may be memory-mapped.
    times : sequence of float
        Their times, s.
    velocity : array of the shape of a field
        P velocity, m/s.
    spacing, origin : float or one for each axis
        Distance of nodes and position of the first one, m.
    sources, receivers : array, shape (n, 2) or (n, 3)
        Positions, m.
    domains : sequence of mappings, optional
        {"lower": position, "upper": position} in m: boxes to frame, one or None for each field.
    clip : float, optional
        Per cent of the samples below the darkest colour, above 0 to 100. Default: 95.
    colour_map : str
        Matplotlib's name of the colours of the pressure.
    title : str
        Text above all panels.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    PlotError
        Fields, velocity and positions do not fit each other.
    """
    model = _sections.model_of(np.shape(velocity), spacing, origin)
    sources = _sections.points_of(sources, len(model["shape"]), "sources")
    receivers = _sections.points_of(receivers, len(model["shape"]), "receivers")
    if len(fields) != len(times) or not len(fields) or not len(sources):
        raise PlotError(f"there are {len(fields)} fields, {len(times)} times and {len(sources)} sources "
                        "(allowed: as many times as fields, 1 or more, and a source)")
    sections = _sections.sections_through(model, sources[0])
    if len(sections) == 1:
        length, height = sections[0].lengths[0], sections[0].lengths[1] * sections[0].exaggeration
        columns = 1 if length > 4.0 * height or len(fields) == 1 else 2
        rows = -(-len(fields) // columns)
        size = _sheets.panel_sizes(sections, 9.6 / columns, 6.0 if columns == 1 else 4.2)[0]
        widths, heights = [size[0]] * columns, [size[1]] * rows
        places = [(k // columns, k % columns) for k in range(len(fields))]
    else:
        sizes = _sheets.panel_sizes(sections, 9.6, 3.6)
        widths, heights = [w for w, _ in sizes], [max(h for _, h in sizes)] * len(fields)
        places = [(k, p) for k in range(len(fields)) for p in range(len(sections))]
    sheet = _sheets.Sheet(widths, heights, title)
    below = [section.cut(velocity) for section in sections]
    limits = _sheets.limits_of(*below)
    for k, (field, time) in enumerate(zip(fields, times)):
        parts = [section.cut(_sections.same_shape(field, model, f"field {k}")) for section in sections]
        every = np.concatenate([part.ravel() for part in parts])
        most = _sheets.clip_of(every, _sheets.percentile_of(clip) or 95.0)
        largest = np.abs(every).max(initial=0.0)
        for section, part, under, place in zip(sections, parts, below, places[k * len(sections):]):
            name = f", {section.title}" if section.title else ""
            scale = f": saturated at {most:.2g}, largest {largest:.2g}" if section is sections[0] else ""
            axes = sheet.panel(*place, f"{time:.3f} s{name}{scale}", 9)
            back = _draw_wavefield(section, axes, under, limits, part / most, colour_map)
            if domains is not None and domains[k] is not None:
                section.draw_box(axes, domains[k], color="#d98200", linewidth=1.5)
            section.mark(axes, receivers, _sheets.MOST_RECEIVERS, **{**_sheets.RECEIVER, "markersize": 3.0})
            section.mark(axes, sources, **_sheets.source_style(size=11))
        if place[1] == len(widths) - 1 or len(fields) == 1:
            _sheets.colour_bar(axes, back, "P velocity (m/s)", boundaries=np.linspace(*limits, 200))
    return sheet.figure


def _draw_wavefield(section, axes, under, limits, values, colour_map):
    """Draws pale greys of the velocity, and over them the wavefield, transparent where it is weak."""
    wide = limits[1] - limits[0]
    back = section.draw(axes, under, cmap="Greys", vmin=limits[0] - 0.6 * wide, vmax=limits[1] + 1.2 * wide)
    alpha = np.clip(2.5 * np.nan_to_num(np.abs(values)), 0.0, 1.0) ** 0.7  # transparent at NaN
    section.draw(axes, values, cmap=colour_map, vmin=-1.0, vmax=1.0, alpha=alpha)
    return back
