# SPDX-License-Identifier: BSD-3-Clause
"""Modelling of shots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from . import _arrays, _labelled
from ._errors import InputError
from ._plan import Plan, shots_text
from ._runtime import OfThisProcess, core
from ._wave_arguments import (
    EXPANSIONS,
    expansion_arguments,
    parameter_bits,
    random_seed,
    scheme_arguments,
    survey_positions,
    taper_radius,
    warn_without_effect,
    wave_arguments,
    wave_fields,
)
from ._wavefield import KeptWavefield, checksum, held_of


@dataclass(frozen=True, eq=False)
class Snapshots:
    """Wavefields of a shot at equal intervals, at the nodes of the model."""

    values: np.ndarray  #: pressure: (snapshots, nx, nz) or (snapshots, nx, ny, nz), of the type of vp
    times: np.ndarray  #: s, (snapshots,)
    domains: Optional[list[dict[str, list[float]]]] = None  #: "lower", "upper": m, corner nodes stepped


_INVERTED = ("vp", "density", "epsilon", "delta")  # parameters with derivatives


@dataclass(frozen=True, eq=False)
class Gather:
    """The traces of a shot."""

    traces: np.ndarray  #: pressure at the receivers: (receivers, samples), of the type of vp
    interval: float  #: s between samples
    sources: np.ndarray  #: m, positions of the sources: (n, 2) or (n, 3)
    receivers: np.ndarray  #: m, positions of the receivers: (m, 2) or (m, 3)
    start: float = 0.0  #: s, time of the first sample
    snapshots: Optional[Snapshots] = None  #: wavefields, with `snapshot_every` of moho.Shots
    stepped: float = 1.0  #: fraction of the nodes that was stepped, below 1 with expanding domains
    wavefield: Any = None  #: for moho.Shots.gradient(), with `keep` of a shot where memory allows it

    @property
    def times(self) -> np.ndarray:
        """Times of the samples in s, (samples,)."""
        return self.start + np.arange(self.traces.shape[1]) * self.interval

    def to_xarray(self) -> Any:
        """Returns the traces as an xarray.DataArray with receiver positions and times; needs xarray."""
        import xarray

        axes = ("x", "z") if self.receivers.shape[1] == 2 else ("x", "y", "z")
        coords: dict[str, Any] = {"time": ("time", self.times, {"units": "s"})}
        for axis, at in zip(axes, self.receivers.T):
            coords[f"receiver_{axis}"] = ("receiver", at, {"units": "m"})
        return xarray.DataArray(
            _arrays.to_numpy(self.traces, "traces"), coords, ["receiver", "time"], name="pressure"
        )


class Shots(OfThisProcess):
    """Finite-difference shots over one model, as the program model_waves computes them.

    The medium follows from the parameters that are given: vp alone is isotropic, with density of variable
    density, with epsilon or delta VTI, with theta (and phi in 3D) TTI.

    Parameters
    ----------
    vp : array, shape (nx, nz) or (nx, ny, nz)
        P velocity, m/s, float32 or float64, which is the precision of the computation. z is depth. An array
        of that type with contiguous z, y and x is read in place, also one of another library through DLPack,
        and one in device memory, from which traces and gradients are in device memory. An xarray.DataArray
        has spacing and origin in its coordinates x, (y,) z.
    spacing : float or one for each axis
        Distance of nodes, m.
    wavelet : str or array, shape (n,)
        "ricker:FREQUENCY[:DELAY]", "ormsby:F1,F2,F3,F4[:DELAY]" (Hz, s), or samples from time 0 on.
    time : float
        Time to model, s.
    density : array of the shape of vp, or float, optional
        kg/m3.
    epsilon, delta : array of the shape of vp, or float, optional
        Thomsen's parameters, without unit.
    theta, phi : array of the shape of vp, or float, optional
        Tilt of the symmetry axis from the vertical towards x, and its azimuth from x to y (3D), radians.
    origin : float or one for each axis
        Position of the first node, m.
    faces : str, optional
        Faces of the model and widths of their layers in nodes, such as "cpml:20,top=free,left=sponge:40";
        kinds are cpml, sponge, random, free, and rigid, zero pressure one node outside, which reflects
        with reversed sign. Default: "cpml:10", for TTI "sponge:30".
    free_surface : bool
        True: a free surface at the top.
    dt : float, optional
        Time step, s. Default: 0.9 of the largest stable one or less, a divisor of the interval.
    interval : float, optional
        Sampling interval of the traces, s, in whole microseconds. Default: dt.
    order : int
        Order of the differences in space: 2, 4, ..., 16.
    equations : {"self_adjoint", "fletcher"}
        Equations of VTI and TTI media.
    sigma : float
        Of Fletcher's equations: squared shear velocity = vp^2 |epsilon - delta| / sigma.
    parameters : {32, 16, "auto"}
        Bits of the stored parameters in single precision. 16 take fewer bytes of memory traffic and change
        velocities by about 2e-5, relatively; gradients need 32. "auto": 16 in 3D on devices where velocities
        change no more than that, as programs choose.
    sources : array, shape (n, 2) or (n, 3), optional
        Positions of the sources of all shots, m, for VTI and TTI media: around them delta is tapered to
        epsilon, so that they emit no shear waves. Default: no taper.
    source_taper : float, optional
        Radius of that taper, m; 0: none. Default: twice the shortest wavelength.
    wavelet_interval : float, optional
        Interval of the samples of a wavelet, s; needed for samples.
    memory : int, optional
        Bytes that may be allocated, on each of several devices; default: what is free.
    space : {"host", "cuda"}, optional
        Where to compute, in a build with CUDA. Default: where vp is.
    devices : int or "auto"
        Devices of this process that hold each shot in slabs along x, 1 to 64, with the bits of one device; on
        hosts threads. Arrays are then on the host, and each call fills the slabs again: model several shots
        by survey(). "auto": one, or as few as have the memory; 1 on hosts.
    concurrent_shots : int
        Shots that survey() models at a time; 0: as many as are fastest and fit the memory.
    seed : int, optional
        Of the velocities of random layers. Default: 2011.
    snapshot_every : float, optional
        Seconds between snapshots of the wavefield, rounded down to time steps: up to `time`, 0 for none.
        Gather.snapshots has them, on the host. Default: none.
    expand : {"none", "layers", "eikonal", "amplitude"}
        Method that confines steps to the nodes that waves have reached: first arrivals from the largest
        velocity of each plane or by the eikonal equation, or the amplitude near the faces of the domain.
    expand_threshold : float, optional
        For "amplitude": fraction of the largest amplitude below which waves may be truncated, between 0 and
        1. Default: 1/1024.
    expand_interval : int, optional
        For "amplitude": time steps between measurements of the wavefield, 1 to 64. Default: 8.
    expand_coarsening : int, optional
        For "eikonal": first arrivals are computed on every n-th node, 1 to 64. Default: 4.
    progress : callable(fraction, text), optional
        As for shots; called while the shots are prepared.

    Raises
    ------
    InputError
        An argument is invalid: types, shapes, parameters, faces, a time step that is not stable, a wavelet
        with wavelengths that the grid does not resolve, snapshots further apart than `time`.
    OutOfMemoryError
        Model and wavefield, or the snapshots, do not fit the memory.

    Notes
    -----
    Fletcher, Du and Fowler (2009) gave the equations "fletcher", Suh and Wang (2011) expanding domains.
    docs/theory/waves.md describes equations, differences and faces, docs/theory/expanding_domains.md the
    methods of `expand`. gradient() steps all nodes.

    Examples
    --------
    >>> import numpy, moho
    >>> shots = moho.Shots(numpy.full((101, 81), 2000, "f4"), spacing=10, wavelet="ricker:15", time=0.5)
    >>> shots((500, 20), receivers=[(200, 20), (800, 20)]).traces.shape[0]
    2
    """

    def __init__(
        self,
        vp: Any,
        *,
        spacing: Any = None,
        wavelet: Any,
        time: float,
        density: Any = None,
        epsilon: Any = None,
        delta: Any = None,
        theta: Any = None,
        phi: Any = None,
        origin: Any = None,
        faces: Optional[str] = None,
        free_surface: bool = False,
        dt: Optional[float] = None,
        interval: Optional[float] = None,
        order: int = 8,
        equations: str = "self_adjoint",
        sigma: float = 0.75,
        parameters: Union[int, str] = 32,
        sources: Any = None,
        source_taper: Optional[float] = None,
        wavelet_interval: Optional[float] = None,
        memory: Optional[int] = None,
        space: Optional[str] = None,
        devices: Union[int, str] = 1,
        concurrent_shots: int = 1,
        seed: Optional[int] = None,
        snapshot_every: Optional[float] = None,
        expand: str = "none",
        expand_threshold: Optional[float] = None,
        expand_interval: Optional[int] = None,
        expand_coarsening: Optional[int] = None,
        progress: Optional[Callable[[float, str], Any]] = None,
    ) -> None:
        self._returned = _labelled.returned(vp)
        more = {"density": density, "epsilon": epsilon, "delta": delta, "theta": theta, "phi": phi}
        vp, spacing, origin = _labelled.placed(vp, "vp", spacing, origin, **more)
        self._device = _arrays.on_device(vp)
        model = wave_fields(vp, **more)
        self._dim = model[0].ndim
        count = _arrays.devices_of(devices)
        _arrays.choice(expand, "expand", EXPANSIONS)
        at_once = _arrays.whole(concurrent_shots, "concurrent_shots", 0, 65536)
        _check_devices(count, self._device, expand, at_once)
        self._whole = expand == "none" and snapshot_every is None
        self._given = [None if one is None else _arrays.kind_of(one) for one in model]
        self._model = checksum(model)
        self._shots = core().make_shots(
            *wave_arguments(
                model, spacing, origin, wavelet, wavelet_interval, faces, free_surface, time, dt, interval
            ),
            *scheme_arguments(order, equations, sigma),
            parameter_bits(parameters),
            None if sources is None else _arrays.points(sources, "sources", self._dim),
            taper_radius(source_taper),
            _arrays.memory_bytes(memory),
            _arrays.space_of(space, vp),
            count,
            at_once,
            0.0 if snapshot_every is None else _arrays.number(snapshot_every, "snapshot_every"),
            *expansion_arguments(expand, expand_threshold, expand_interval, expand_coarsening),
            random_seed(seed, faces),
            _arrays.callback(progress),
        )
        warn_without_effect(model, equations, sigma, source_taper, sources is not None, self.source_taper)

    @property
    def dt(self) -> float:
        """Time step, s."""
        return self._shots.plan.dt

    @property
    def interval(self) -> float:
        """Sampling interval of the traces, s."""
        return self._shots.plan.interval

    @property
    def steps(self) -> int:
        """Number of time steps of a shot."""
        return self._shots.plan.steps

    @property
    def samples(self) -> int:
        """Number of samples of a trace."""
        return self._shots.plan.samples

    @property
    def medium(self) -> str:
        """Medium: "isotropic", "variable_density", "vti" or "tti"."""
        return self._shots.plan.medium

    @property
    def on_device(self) -> bool:
        """True if models, traces and gradients are in device memory."""
        return self._device

    @property
    def faces(self) -> str:
        """Faces and widths of their layers, in the words of the argument `faces`."""
        return self._shots.plan.faces

    @property
    def frequency(self) -> float:
        """Highest frequency of the wavelet, Hz."""
        return self._shots.plan.frequency

    @property
    def source_taper(self) -> float:
        """Radius around sources within which delta is tapered to epsilon, m; 0: no taper."""
        return self._shots.plan.source_taper

    @property
    def memory(self) -> int:
        """Estimate of the memory of model, wavefield and traces, bytes."""
        return self._shots.plan.memory

    @property
    def slabs(self) -> Optional[dict[str, Any]]:
        """Slabs of several devices: their "count", "planes" along x with layers, "bytes_on_each" at most.

        Only shots on several devices have slabs.
        """
        return self._shots.plan.slabs

    @property
    def plan(self) -> Plan:
        """Time steps, grid and memory, a dict that prints as lines: moho.Plan."""
        numbers = {**self._shots.plan.numbers, "slabs": self.slabs}
        return Plan(numbers, shots_text(numbers))

    def __call__(
        self,
        sources: Any,
        receivers: Any,
        *,
        keep: Sequence[str] = (),
        progress: Optional[Callable[[float, str], Any]] = None,
    ) -> Gather:
        """Models a shot.

        Parameters
        ----------
        sources : array, shape (n, 2) or (n, 3)
            Positions of sources that act together, m; usually one, which may be a single row.
        receivers : array, shape (m, 2) or (m, 3)
            Positions of receivers, m.
        keep : sequence of str
            Parameters for a later call of gradient(): "vp", "density", "epsilon", "delta". The
            wavefield of all steps is then kept in Gather.wavefield, which spares gradient() a propagation,
            if it takes at most a quarter of the free memory. Not with expanding domains and snapshots.
        progress : callable(fraction, text), optional
            Called by this thread while another one computes, about twice a second. What it raises ends the
            shot.

        Returns
        -------
        Gather

        Raises
        ------
        InputError
            A position is outside the model or on a free surface, or close() was called; an unknown parameter.
        NotFiniteError
            The wavefield overflowed.
        """
        at = _arrays.points(sources, "sources", self._dim)
        to = _arrays.points(receivers, "receivers", self._dim)
        wanted = self._wanted(keep, "keep")
        core()
        if any(wanted) and self._whole:
            traces, wavefield = self._shots.shot_for_gradient(
                at, to, self._device, wanted, _arrays.callback(progress)
            )
            if wavefield is not None:
                kept = KeptWavefield(wavefield, at, self._model)
                return Gather(self._returned(traces), self.interval, at, to, wavefield=kept)
        traces, *more = self._shots.shot(at, to, self._device, _arrays.callback(progress))
        return self._gathers([at], [to], [traces], *more)[0]

    def survey(
        self, sources: Any, receivers: Any, *, progress: Optional[Callable[[float, str], Any]] = None
    ) -> list[Gather]:
        """Models several shots, `concurrent_shots` at a time, each with the bits of a single shot.

        Snapshots are those of the first shot.

        Parameters
        ----------
        sources : array, shape (n, 2) or (n, 3), or sequence of arrays
            Position of the source of each shot, m; or positions for each shot, which act together.
        receivers : array, shape (m, 2) or (m, 3), or sequence of arrays
            Positions of the receivers of all shots, m; or positions for each shot.
        progress : callable(fraction, text), optional
            As for a shot.

        Returns
        -------
        list of Gather
            In the order of the sources.

        Raises
        ------
        InputError
            As for a shot; lists of different lengths.
        NotFiniteError
            A wavefield overflowed.
        """
        at, to = survey_positions(sources, receivers, self._dim)
        core()
        return self._gathers(at, to, *self._shots.survey(at, to, self._device, _arrays.callback(progress)))

    def _gathers(
        self,
        at: list[np.ndarray],
        to: list[np.ndarray],
        traces: list[Any],
        values: Any,
        boxes: Any,
        stepped: list[float],
    ) -> list[Gather]:
        """Gathers of the shots of a call; the first one has the snapshots."""
        snapshots: list[Optional[Snapshots]] = [None] * len(traces)
        if values is not None:
            times = np.arange(1, len(values) + 1) * self._shots.plan.snapshot_steps * self.dt
            if not self._device:
                values = self._returned(values, "", "pressure", "snapshot")
            snapshots[0] = snapshots_of(values, times, boxes)
        return [
            Gather(self._returned(one), self.interval, *where, snapshots=waves, stepped=part)
            for one, *where, waves, part in zip(traces, at, to, snapshots, stepped)
        ]

    def update(
        self,
        vp: Any,
        *,
        density: Any = None,
        epsilon: Any = None,
        delta: Any = None,
        theta: Any = None,
        phi: Any = None,
    ) -> None:
        """Loads another model of the same grid, parameters and type; all else stays the same.

        With several devices the absorbing layers are those of the new model.

        Parameters
        ----------
        vp, density, epsilon, delta, theta, phi
            Those of the constructor, with other values.

        Raises
        ------
        InputError
            Other parameters, shapes or types, or a model that is not stable with the time step.
        """
        fields = self._fields(vp, density, epsilon, delta, theta, phi)
        core()
        self._shots.update(fields)
        self._model = checksum(fields)

    def gradient(
        self,
        sources: Any,
        receivers: Any,
        derivative: Any,
        vp: Any,
        *,
        density: Any = None,
        epsilon: Any = None,
        delta: Any = None,
        theta: Any = None,
        phi: Any = None,
        wanted: Sequence[str] = ("vp",),
        wavefield: Any = None,
        progress: Optional[Callable[[float, str], Any]] = None,
    ) -> dict[str, np.ndarray]:
        """Derivatives of a function of a shot's traces by the model, by the adjoint of the time steps.

        The derivative is exact to rounding, except at nodes next to absorbing layers: there the contribution
        of the layers is missing. Without `wavefield` the shot is modelled again. Its wavefield is stored at
        all steps if that takes at most a quarter of the free memory, or else propagated backward, with the
        same result to rounding.

        Parameters
        ----------
        sources, receivers
            As for a shot.
        derivative : array, shape (receivers, samples)
            Derivatives of the function by the traces.
        vp, density, epsilon, delta, theta, phi
            The model, as for update(), which is called unless `wavefield` is of the loaded model.
        wanted : sequence of str
            Parameters of the derivatives: "vp", "density", "epsilon", "delta".
        wavefield
            Gather.wavefield of this shot over this model, with `keep`; those of other sources and models are
            refused. Without it, and with that of other parameters or other Shots, the shot is modelled again.
        progress : callable(fraction, text), optional
            As for a shot.

        Returns
        -------
        dict of str to numpy.ndarray
            Derivatives by each wanted parameter, 1 over its unit, of the shape and type of vp.

        Raises
        ------
        InputError
            As for a shot and update(); traces that are not sampled at a multiple of dt; a parameter that the
            medium lacks.
        """
        fields = self._fields(vp, density, epsilon, delta, theta, phi)
        at = _arrays.points(sources, "sources", self._dim)
        to = _arrays.points(receivers, "receivers", self._dim)
        shape = (len(to), self.samples)
        dtype = self._given[0][1]
        if not _arrays.on_device(derivative):
            what = "receivers and samples of the traces"
            derivative = _arrays.values_like(derivative, "derivative", shape, dtype, what)
        if not self._device and _arrays.on_device(derivative):
            raise InputError("derivative: it is in device memory (allowed: where the model is): move it")
        found = _arrays.kind_of(derivative)
        if found != (shape, dtype):
            raise InputError(
                f"derivative: it is {_arrays.shape_text(found[0])} {found[1]} (allowed: "
                f"{_arrays.shape_text(shape)} {dtype}, shape and type of the traces)"
            )
        wanted_of = self._wanted(wanted, "wanted")
        core()
        model = checksum(fields)
        kept = None if wavefield is None else held_of(wavefield, at, model)
        found = self._shots.gradient(fields, at, to, derivative, wanted_of, kept, _arrays.callback(progress))
        self._model = model
        return {name: self._returned(one) for name, one in zip(_INVERTED, found) if one is not None}

    def _wanted(self, names: Sequence[str], argument: str) -> list[bool]:
        """For each parameter with derivatives: True if it is among the names."""
        if not isinstance(names, (str, list, tuple, set, frozenset)):
            raise InputError(
                f"{argument} is {_arrays.shown(names)} (allowed: names of parameters, such as ('vp',))"
            )
        given = (names,) if isinstance(names, str) else tuple(names)
        for name in given:
            _arrays.choice(name, argument, _INVERTED)
            if self._given[_INVERTED.index(name)] is None:
                raise InputError(f"{argument}: {name} is not in the model (allowed: parameters given)")
        return [name in given for name in _INVERTED]

    def _fields(self, *given: Any) -> list[Optional[np.ndarray]]:
        names = ("density", "epsilon", "delta", "theta", "phi")
        fields = wave_fields(given[0], **dict(zip(names, given[1:])))
        for name, one, before in zip(("vp", *names), fields, self._given):
            kind = None if one is None else _arrays.kind_of(one)
            if kind != before:
                found = "none" if kind is None else f"{_arrays.shape_text(kind[0])} {kind[1]}"
                was = "none" if before is None else f"{_arrays.shape_text(before[0])} {before[1]}"
                raise InputError(f"{name}: it is {found} (allowed: {was}, as in the constructor)")
        return fields

    def close(self) -> None:
        """Releases the memory of model and wavefield; gathers remain valid."""
        core()
        self._shots.close()

    def __enter__(self) -> Shots:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def snapshots_of(values: Any, times: np.ndarray, boxes: Any) -> Snapshots:
    """Snapshots from values, times and pairs of the lower and upper positions of domains."""
    return Snapshots(values, times, [{"lower": lower, "upper": upper} for lower, upper in boxes] or None)


def _check_devices(devices: int, on_device: bool, expand: str, concurrent_shots: int) -> None:
    """Refuses what does not combine with several devices."""
    if devices == 1:
        return
    if on_device and devices > 1:
        raise InputError(
            "vp: the array is in device memory (allowed with several devices: arrays of the host): copy it "
            "to the host first"
        )
    if expand == "amplitude" and devices > 1:
        raise InputError(
            f"expand amplitude is for one device (allowed with devices {devices}: none, layers, eikonal): it "
            "searches the whole wavefield before a step, choose one that knows arrivals from the model"
        )
    if concurrent_shots != 1 and devices > 1:
        raise InputError(
            f"devices {devices} and concurrent_shots {concurrent_shots} (allowed together: 1): devices that "
            "share a shot step one at a time"
        )
