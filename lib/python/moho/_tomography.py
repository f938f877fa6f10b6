# SPDX-License-Identifier: BSD-3-Clause
"""Picks of first arrivals, and their inversion for the velocity."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from . import _arrays
from ._errors import InputError
from ._picks import Picks, PicksInUse
from ._runtime import core

TIMES = ("automatic", "graph", "eikonal")
ROBUST = ("none", "biweight", "huber")
STATICS = ("none", "source", "receiver", "both")
EXPORTS = ("vtk", "rsf", "sgt")


@dataclass(frozen=True)
class TimesIteration:
    """The state of invert_times() after an iteration; iteration 0 is the start model."""

    iteration: int  #: from 0
    chi2: float  #: mean of the squared weighted residuals
    rms: float  #: of the residuals of picks with weight, s
    damping: float  #: lambda, 1 / standard deviation of ln velocity
    freedom: float  #: degrees of freedom that the steps of the iteration reach
    step: float  #: part of the step that was taken; 0: none
    rejected: int  #: picks with a weight below 0.01


@dataclass(frozen=True)
class JackknifeRun:
    """An inversion without a group of sources, of invert_times(jackknife=n)."""

    group: int  #: from 0; sources k, of those in use, with k modulo n = group are left out
    sources: int  #: in use
    picks: int  #: in use
    iterations: int  #: number of iterations
    chi2: float  #: at the end
    rms: float  #: of the residuals at the end, s
    damping: float  #: lambda at the end


@dataclass(frozen=True)
class CheckLayer:
    """Recovery of the checks in a layer of half of a check, of invert_times(checkerboard=...)."""

    depth: float  #: m, middle of the layer below the mean ground, without air below the top of the grid
    correlation: float  #: of true and recovered changes where rays are
    recovered: float  #: part of the changes that is recovered, by regression
    covered: float  #: part of the nodes of the ground with rays; a correlation of few is noise
    z: float  #: m, of the middle of the layer


@dataclass(frozen=True, eq=False)
class Checkerboard:
    """A checkerboard test of invert_times(): the inversion of times of the result with checks."""

    truth: np.ndarray  #: relative change of the velocity, (nx, nz) or (nx, ny, nz)
    found: np.ndarray  #: recovered relative change, of the same shape
    layers: tuple[CheckLayer, ...]  #: from the top
    iterations: tuple[TimesIteration, ...]  #: of the inversion


@dataclass(frozen=True, eq=False)
class TimesInversion:
    """Result of invert_times(). Fields are float64 on the nodes, (nx, nz) or (nx, ny, nz).

    Arrays of picks have the order of the given ones. Picks with weight 0 are left out: predicted, residuals
    and errors are NaN there, weights 0, and path() is empty. Sources and receivers without a pick in use
    have delays and origin times of 0, and the positions of the picks.
    """

    velocity: np.ndarray  #: m/s
    start: np.ndarray  #: m/s, the start model
    spacing: tuple[float, ...]  #: m, one for each axis
    origin: tuple[float, ...]  #: m, position of the first node
    ground: np.ndarray  #: bool; False: air above the ground
    coverage: np.ndarray  #: m of rays at each node
    deviation: np.ndarray  #: posterior standard deviation of ln velocity
    resolution: np.ndarray  #: diagonal of the resolution matrix, about 0 to 1
    predicted: np.ndarray  #: s, of each pick, with delays: (n,)
    residuals: np.ndarray  #: s, observed minus predicted: (n,)
    errors: np.ndarray  #: s, standard deviations that were used: (n,)
    weights: np.ndarray  #: robust weights of the picks, 0 to 1: (n,)
    source_delays: np.ndarray  #: s, of each source; empty without statics
    receiver_delays: np.ndarray  #: s, of each receiver; empty without statics
    iterations: tuple[TimesIteration, ...]  #: of all iterations
    reason: str  #: why it ended
    first: np.ndarray  #: offsets of rays into points: (n + 1,)
    points: np.ndarray  #: m, vertices of the rays of all picks: (m, 2) or (m, 3)
    picks: Picks  #: the inverted picks; those without errors have them from the argument `error`
    sources: np.ndarray  #: m, positions of the sources, those of the picks unless located: (s, 2) or (s, 3)
    origin_times: np.ndarray  #: s, of located sources; empty or 0 for others
    jackknife: Optional[np.ndarray] = None  #: standard deviation of ln velocity by a jackknife
    jackknife_runs: tuple[JackknifeRun, ...] = ()  #: its inversions, each without a group of sources
    checkerboard: Optional[Checkerboard] = None  #: the checkerboard test, if one was requested

    @property
    def chi2(self) -> float:
        """Mean of the squared weighted residuals at the end."""
        return self.iterations[-1].chi2

    def path(self, pick: int) -> np.ndarray:
        """Returns the vertices of the ray of a pick, m, (n, 2) or (n, 3)."""
        pick = _arrays.index(pick, "pick", len(self.first) - 1)
        return self.points[self.first[pick] : self.first[pick + 1]]

    def export(
        self, folder: Union[str, os.PathLike[str]], formats: Union[str, Sequence[str]] = EXPORTS
    ) -> list[str]:
        """Writes files for other programs, those of invert_times --export.

        Parameters
        ----------
        folder : str or path
            An existing folder; files of these names are replaced.
        formats : str or sequence of str
            "vtk": velocity, coverage, deviation, resolution and ground as structured points in model.vtk;
            "rsf": the velocity in velocity.rsf; "sgt": the picks in use and their errors in picks.sgt. A text
            has them with commas between.

        Returns
        -------
        list of str
            Paths of the files.

        Raises
        ------
        InputError
            An unknown or repeated format.
        FileError
            A file cannot be written.
        """
        if not isinstance(formats, (str, list, tuple)):
            raise InputError(f"formats is {_arrays.shown(formats)} (allowed: some of {', '.join(EXPORTS)})")
        names = formats.split(",") if isinstance(formats, str) else list(formats)
        for name in names:
            _arrays.choice(name, "formats", EXPORTS)
            if names.count(name) > 1:
                raise InputError(f"formats names {name} twice (allowed: once): leave one out")
        fields = [self.velocity, self.coverage, self.deviation, self.resolution]
        fields.append(self.ground.astype(np.float64))
        return core().export_times(
            _arrays.path_of(folder, "folder"),
            names,
            PicksInUse(self.picks).arrays,
            [np.ascontiguousarray(one, np.float64) for one in fields],
            list(self.spacing),
            list(self.origin),
        )


def invert_times(
    picks: Picks,
    *,
    error: Any = None,
    spacing: Optional[float] = None,
    shape: Optional[Sequence[int]] = None,
    origin: Any = None,
    margin: Optional[float] = None,
    depth: Optional[float] = None,
    topography: Any = "auto",
    start: Any = None,
    reference: Any = None,
    bounds: Optional[tuple[float, float]] = None,
    lengths: Any = None,
    deviation_max: float = 0.5,
    statics: str = "none",
    static_deviation: Optional[float] = None,
    robust: str = "none",
    damping: Any = "target",
    target: float = 1.0,
    tolerance: float = 0.04,
    iterations: int = 20,
    krylov: int = 100,
    times: str = "automatic",
    radius: Optional[int] = None,
    coarsening: Optional[int] = None,
    epsilon: Any = None,
    delta: Any = None,
    locate: bool = False,
    location_deviation: Any = None,
    origin_deviation: Optional[float] = None,
    buried_below: float = 2.0,
    checkerboard: Optional[Sequence[float]] = None,
    jackknife: Optional[int] = None,
    precision: str = "single",
    memory: Optional[int] = None,
    progress: Optional[Callable[[float, str], Any]] = None,
) -> TimesInversion:
    """Velocity from picked first arrivals, by Gauss-Newton steps, as the program invert_times.

    Parameters
    ----------
    picks : Picks
        10 or more picks of two or more sources. Picks with weight 0, and points that only they use, are left
        out, as by the program; their times and errors may have any value.
    error : float or (float, float), optional
        Standard deviation of picks without one: s, and a part of the time.
    spacing : float, optional
        Distance of nodes, m. Default: half of the median distance of receivers.
    shape : sequence of int, optional
        Nodes along each axis. Default: those that the picks need.
    origin : float or one for each axis, optional
        Position of the first node, m. Default: chosen by the picks.
    margin : float, optional
        m around the points. Default: four nodes.
    depth : float, optional
        m below the deepest point. Default: 0.4 of the longest offset.
    topography : {"auto", None} or array, shape (n, 2) or (n, 3)
        The ground: "auto", in 2D through the points, else none; None, all of the grid is rock; or rows of
        positions on the ground, m, with z as depth.
    start : float, (float, float), "layers" or array of the shape of the grid, optional
        One velocity, velocity at the ground and its increase with depth (m/s, 1/s), a velocity of depth
        alone that is fitted to medians of the picks, or velocities of the nodes. Default: a linear
        increase that is fitted to the picks.
    reference : array of the shape of the grid, optional
        Velocities of the nodes that the prior pulls to, m/s. Default: the start model.
    bounds : (float, float), optional
        Least and greatest velocities, m/s.
    lengths : float or one for each axis, optional
        Correlation lengths of the prior, m; infinite along an axis: the change of ln velocity is equal along
        it. Default: eight times the median distance of receivers.
    deviation_max : float
        Largest standard deviation of ln velocity that the damping may stand for.
    statics : {"none", "source", "receiver", "both"}
        Unknown delays of stations.
    static_deviation : float, optional
        Prior standard deviation of the delays, s, with statics. Default: 0.005.
    robust : {"none", "biweight", "huber"}
        Weights of large residuals.
    damping : float or {"target", "gcv"}
        Lambda, 1 / standard deviation of ln velocity; or its choice, by the target of chi2, or by
        generalised cross validation where errors are not known.
    target, tolerance : float
        chi2 to reach, and the accepted distance from it.
    iterations : int
        Largest number of iterations, 0 to 1000.
    krylov : int
        Largest number of steps of a bidiagonalisation, 2 to 1000.
    times : {"automatic", "graph", "eikonal"}
        Solver of the traveltimes; "automatic" is eikonal in 3D without air, else graph.
    radius : int, optional
        Radius of the graph's neighbourhood, 1 to 8, in 3D to 4. Default: 8, in 3D 3.
    coarsening : int, optional
        Model nodes between unknowns. Default: 1, in 3D 2.
    epsilon, delta : float or array of the shape of the grid, optional
        Thomsen's parameters of a VTI medium, known; the velocity is that along the vertical axis. Default of
        delta: epsilon.
    locate : bool
        True: positions and origin times of the sources are unknown, too; those of the picks are their start.
    location_deviation : float or one for each axis, optional
        Prior standard deviation of positions, m, with locate; 0 along an axis: known. Default: two nodes.
    origin_deviation : float, optional
        Prior standard deviation of origin times, s, with locate; 0: known. Default: 0.005.
    buried_below : float
        Points deeper than this below their neighbours are in boreholes, m; for the topography "auto".
    checkerboard : (float, float, float) or (float, float, float, float), optional
        Size of a check along x, (y,) z in m, the distance of nodes or more, and the change of the velocity in
        per cent, above 0 and below 50: times of the result with alternating changes, with noise of the
        deviations of the picks, are inverted from the result, too.
    jackknife : int, optional
        Number n of further inversions, each without every n-th source; the result has the standard deviation
        of ln velocity by their spread.
    precision : {"single", "double"}
        Of the traced times.
    memory : int, optional
        Bytes of working memory; default: what is free.
    progress : callable(fraction, text), optional
        Called by this thread while another one computes. What it raises ends the inversion.

    Returns
    -------
    TimesInversion

    Raises
    ------
    InputError
        Picks without errors, too few of them, points outside of the grid, or another invalid argument.
    OutOfMemoryError
        The traveltimes do not fit the memory.

    Notes
    -----
    Tarantola and Valette (1982), prior; Golub and Kahan (1965), bidiagonalisation. docs/theory/tomography.md
    has the method. Arguments that are valid but unlikely, such as bounds in km/s, give a UserWarning.

    Examples
    --------
    ::

        picks = moho.read_picks("koenigsee.sgt")
        found = moho.invert_times(picks, error=(0.0005, 0.02), bounds=(300, 6000))
        print(found.reason, found.chi2, found.velocity.shape)
    """
    used = PicksInUse(picks)
    dim = used.sources.shape[1]
    options = {
        "left_out": used.count - used.order.size,
        "error": [] if error is None else _pair(error, "error"),
        "spacing": [] if spacing is None else [_arrays.positive(spacing, "spacing")],
        "shape": [] if shape is None else _shape(shape, dim),
        "origin": [] if origin is None else _finite(_arrays.per_axis(origin, "origin", dim), "origin"),
        "margin": None if margin is None else _arrays.not_negative(margin, "margin"),
        "depth": 0.0 if depth is None else _arrays.positive(depth, "depth"),
        "bounds": [] if bounds is None else _pair(bounds, "bounds"),
        "lengths": [] if lengths is None else _lengths(lengths, dim),
        "deviation_max": _arrays.positive(deviation_max, "deviation_max"),
        "statics": _arrays.choice(statics, "statics", STATICS),
        "static_deviation": 0.005 if static_deviation is None else _deviation(static_deviation, statics),
        "robust": _arrays.choice(robust, "robust", ROBUST),
        "target": _arrays.positive(target, "target"),
        "tolerance": _arrays.positive(tolerance, "tolerance"),
        "iterations": _arrays.whole(iterations, "iterations", 0, 1000),
        "krylov": _arrays.whole(krylov, "krylov", 2, 1000),
        "times": _arrays.choice(times, "times", TIMES),
        "radius": 0 if radius is None else _arrays.whole(radius, "radius", 1, 8 if dim == 2 else 4),
        "coarsening": 0 if coarsening is None else _arrays.whole(coarsening, "coarsening", 1, 64),
        "single": _arrays.choice(precision, "precision", ("single", "double")) == "single",
        "memory": _arrays.memory_bytes(memory),
    }
    options |= _ground(topography, dim) | _start(start, dim) | _damping(damping)
    options["layers"] = isinstance(start, str)
    options["checkerboard"] = [] if checkerboard is None else _checks(checkerboard, dim)
    options["jackknife"] = 0 if jackknife is None else _arrays.whole(jackknife, "jackknife", 2, 1000000)
    if epsilon is None and delta is not None:
        raise InputError("delta was given without epsilon (allowed: epsilon alone, or both): give epsilon")
    options["epsilon"] = None if epsilon is None else _parameter(epsilon, "epsilon", dim)
    options["delta"] = options["epsilon"] if delta is None else _parameter(delta, "delta", dim)
    options["reference"] = None if reference is None else _field(reference, "reference", dim)
    options |= _location(locate, location_deviation, origin_deviation, dim)
    options["buried_below"] = _arrays.positive(buried_below, "buried_below")
    found = core().invert_times(used.arrays, options, _arrays.callback(progress))
    for remark in found["remarks"]:
        warnings.warn(remark, stacklevel=2)
    return _result(found, used, _with_errors(picks, options["error"]))


def _with_errors(picks: Picks, error: Sequence[float]) -> Picks:
    """The picks, with errors from an absolute and a relative one where they have none."""
    times = _arrays.numbers(picks.times, "picks.times").reshape(-1)
    given = np.zeros_like(times) if picks.errors is None else _arrays.numbers(picks.errors, "picks.errors")
    if error:
        given = np.where(given > 0.0, given, error[0] + error[1] * times)
    return replace(picks, errors=given)


def _result(found: dict[str, Any], used: PicksInUse, picks: Picks) -> TimesInversion:
    def delays(name: str, rows: np.ndarray, count: int) -> np.ndarray:
        """Delays of all points; 0 for those without a pick in use."""
        if not found[name].size:
            return found[name]
        values = np.zeros(count)
        values[rows] = found[name]
        return values

    sources = used.sources.copy()
    sources[used.source_rows] = found["sources"]
    first, points = found["rays_first"], found["rays_points"]
    if not np.array_equal(used.order, np.arange(used.count)):  # rays of the given picks, in their order
        rows = [points[:0]] * used.count
        for k, place in enumerate(used.order):
            rows[place] = points[first[k] : first[k + 1]]
        first = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        points = np.concatenate(rows)
    return TimesInversion(
        velocity=found["velocity"],
        start=found["start"],
        spacing=tuple(found["spacing"]),
        origin=tuple(found["origin"]),
        ground=found["ground"] != 0,
        coverage=found["coverage"],
        deviation=found["deviation"],
        resolution=found["resolution"],
        predicted=used.restored(found["predicted"], np.nan),
        residuals=used.restored(found["residuals"], np.nan),
        errors=used.restored(found["sigmas"], np.nan),
        weights=used.restored(found["weights"], 0.0),
        source_delays=delays("source_delays", used.source_rows, len(sources)),
        receiver_delays=delays("receiver_delays", used.receiver_rows, len(used.receivers)),
        iterations=tuple(TimesIteration(*one) for one in found["reports"]),
        reason=found["reason"],
        first=first,
        points=points,
        picks=picks,
        sources=sources,
        origin_times=delays("origin_times", used.source_rows, len(sources)),
        jackknife=found["jackknife"],
        jackknife_runs=tuple(JackknifeRun(*one) for one in found["jackknife_runs"]),
        checkerboard=_checkerboard(found["checkerboard"]),
    )


def _checkerboard(found: Any) -> Optional[Checkerboard]:
    if found is None:
        return None
    truth, recovered, layers, reports = found
    return Checkerboard(
        truth,
        recovered,
        tuple(CheckLayer(*one) for one in layers),
        tuple(TimesIteration(*one) for one in reports),
    )


def _finite(values: list[float], name: str) -> list[float]:
    _arrays.finite(np.array(values), name)
    return values


def _shape(shape: Any, dim: int) -> list[int]:
    """Numbers of nodes along the axes."""
    allowed = f"{dim} numbers of nodes, for {_arrays.AXES[dim]}"
    counts = [_arrays.whole(n, "shape", 1, 2**40) for n in _arrays.items(shape, "shape", allowed)]
    if len(counts) != dim:
        raise InputError(f"shape is {_arrays.shown(shape)} (allowed: {allowed})")
    return counts


def _lengths(lengths: Any, dim: int) -> list[float]:
    """Correlation lengths along the axes, m."""
    found = _arrays.per_axis(lengths, "lengths", dim)
    if not all(one > 0.0 for one in found):
        raise InputError(f"lengths is {_arrays.shown(lengths)} (allowed: positive numbers, m, also infinity)")
    return found


def _pair(value: Any, name: str) -> list[float]:
    """Two numbers; for errors the second is 0 if one is given."""
    array = _arrays.numbers(value, name).reshape(-1)
    if array.size == 1 and name == "error":
        array = np.array([array[0], 0.0])
    ordered = array.size == 2 and (0.0 < array[0] < array[1] if name == "bounds" else True)
    if not ordered or not np.all(array >= 0.0) or not 0.0 < array.sum() < np.inf:
        allowed = "s, and a part of the time, not both 0" if name == "error" else "0 < least < greatest, m/s"
        allowed += ", finite"
        raise InputError(f"{name} is {_arrays.shown(value)} (allowed: {allowed})")
    return array.tolist()


def _ground(topography: Any, dim: int) -> dict[str, Any]:
    if topography is None or isinstance(topography, str):
        word = "none" if topography is None else _arrays.choice(topography, "topography", ("auto", "none"))
        return {"topography": word, "ground": None}
    rows = _arrays.finite(_arrays.points(topography, "topography", dim), "topography")
    return {"topography": "table", "ground": rows}


def _start(start: Any, dim: int) -> dict[str, Any]:
    if isinstance(start, str):
        _arrays.choice(start, "start", ("layers",))
    if start is None or isinstance(start, str):
        return {"linear": [], "start": None}
    array = _arrays.numbers(start, "start")
    if array.ndim <= 1:
        linear = array.reshape(-1).tolist() + ([0.0] if array.size == 1 else [])
        if len(linear) != 2 or not (linear[0] > 0.0 and linear[1] >= 0.0):
            raise InputError(
                f"start is {_arrays.shown(start)} (allowed: a velocity above 0, and its increase, 0 or more)"
            )
        return {"linear": linear, "start": None}
    return {"linear": [], "start": _field(array, "start", dim)}


def _field(values: Any, name: str, dim: int) -> np.ndarray:
    array = _arrays.numbers(values, name)
    if array.ndim != dim:
        raise InputError(f"{name}: it has {array.ndim} axes (allowed: {dim}, {_arrays.AXES[dim]})")
    return np.ascontiguousarray(array)


def _deviation(static_deviation: Any, statics: Any) -> float:
    """The standard deviation of delays, which belongs to statics."""
    if statics == "none":
        raise InputError("static_deviation was given without statics (allowed: with it): give both")
    return _arrays.positive(static_deviation, "static_deviation")


def _location(locate: Any, deviation: Any, origin_deviation: Any, dim: int) -> dict[str, Any]:
    deviations = [] if deviation is None else _arrays.per_axis(deviation, "location_deviation", dim)
    origin = 0.005 if origin_deviation is None else _arrays.number(origin_deviation, "origin_deviation")
    for name, given in (("location_deviation", deviation), ("origin_deviation", origin_deviation)):
        if given is not None and not locate:
            raise InputError(f"{name} was given without locate (allowed: with it): give both")
    if not all(one >= 0.0 for one in [*deviations, origin]):
        name, value = ("origin_deviation", origin) if not origin >= 0.0 else ("location_deviation", deviation)
        raise InputError(f"{name} is {_arrays.shown(value)} (allowed: 0 or more)")
    locate = _arrays.flag(locate, "locate")
    return {"locate": locate, "location_deviation": deviations, "origin_deviation": origin}


def _parameter(value: Any, name: str, dim: int) -> np.ndarray:
    """A parameter of the medium: one number, or a field on the nodes."""
    array = _arrays.numbers(value, name)
    return np.ascontiguousarray(array).reshape(1) if array.ndim == 0 else _field(array, name, dim)


def _checks(value: Any, dim: int) -> list[float]:
    """Size of a check along the axes and per cent."""
    array = _arrays.numbers(value, "checkerboard").reshape(-1)
    if array.size != dim + 1:
        raise InputError(
            f"checkerboard has {array.size} numbers (allowed: {dim + 1}, a size along each axis and percent)"
        )
    return array.tolist()


def _damping(damping: Any) -> dict[str, Any]:
    if isinstance(damping, str):
        return {"damping": _arrays.choice(damping, "damping", ("target", "gcv")), "damping_value": 0.0}
    return {"damping": "fixed", "damping_value": _arrays.positive(damping, "damping")}
