# SPDX-License-Identifier: BSD-3-Clause
"""Misfits of surveys, their gradients, and full-waveform inversion."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence, Union

import numpy as np

from . import _arrays, _checkpoint, _inversion_arguments, _labelled
from ._errors import InputError
from ._gathers import Gather, gather_arguments, run_length
from ._inversion_arguments import PARAMETERS
from ._plan import Plan, objective_text
from ._runtime import OfThisProcess, core
from ._wave_arguments import scheme_arguments, taper_radius, warn_without_effect, wave_arguments, wave_fields

PARAMETER_UNITS = {"vp": "m/s", "density": "kg/m3", "epsilon": "1", "delta": "1"}
MISFITS = ("least-squares", "correlation", "huber", "envelope")
SOURCE_FIELDS = ("auto", "shell", "random", "stored", "replay")


class Objective(OfThisProcess):
    """Misfit of a survey and its gradient as functions of the variables of a model, as in invert_waves.

    An object is a function for optimisers: `objective(x)` returns the misfit and its gradient, such as for
    scipy.optimize.minimize(objective, objective.start, jac=True). x has the variables of each parameter on
    the nodes, parameter after parameter; zeros are the initial model. Misfits are divided by that of traces
    of zeros. `search()` is the search of the program, L-BFGS in one frequency band after another. A
    UserWarning of the first evaluation says when the misfit "least-squares" compares data with modelled
    traces that are more than 100 times as strong or as weak.

    Parameters
    ----------
    vp, spacing, wavelet, density, epsilon, delta, theta, phi, origin, faces, free_surface
        The initial model, wavelet and faces, as for moho.Shots.
    dt, order, equations, sigma, source_taper, wavelet_interval
        As for moho.Shots. Default of dt: stable with all vp and epsilon within the bounds.
    gathers : sequence of moho.Gather
        The data; traces are used in single precision. Traces of zeros are left out, with a warning; gathers
        without another trace are refused.
    time : float, optional
        Time to model, s. Default: to the last sample of the gathers. Times without samples have no weight.
    parameters : str or sequence of str
        Inverted parameters: "vp", and any of "density", "epsilon", "delta" that the model has.
    variables : {"log", "linear"}
        Of vp and density: "log", ln(m / initial m); "linear", differences from the initial model divided by
        its mean. Those of epsilon and delta are differences.
    bounds : mapping of str to (float, float), optional
        Least and greatest values of parameters, in their units. Default: 20 % beyond the values of the
        initial model, as far as the grid and dt allow; for epsilon and delta 0.1 beyond. Values of vp are at
        most 1e9 m/s, of epsilon and delta -0.4999 to 2.
    mask : array of the shape of vp, optional
        0 or False: the node keeps its values, whatever its variables are, and its gradient is 0.
    misfit : {"least-squares", "correlation", "huber", "envelope"}
        Measure of the difference of traces.
    huber : float
        Threshold of large residuals of the misfit "huber", over the root mean square of the data.
    offset_weights : str
        "m:WEIGHT,m:WEIGHT,...": weights of residuals by offset, linear between; "": 1.
    mute : str
        "none" or "velocity:V[:DELAY[:TAPER]]" (m/s, s): residuals before the straight ray do not count.
    zero : {"start", "peak"}
        Time of the wavelet that is time zero of the data: its first or its largest sample.
    bands : sequence of float
        Corners of low-passes for search() and set_band(), Hz, ascending; empty: all frequencies.
    source_field : {"auto", "shell", "random", "stored", "replay"}
        Source wavefield backward in time: from values at the faces, behind random layers, stored, or
        recomputed from checkpoints. "auto": shell if it fits the memory, else replay.
    gradient_steps : int
        Steps from one product of the wavefields to the next; 1: the exact derivative; 0: by the wavelet.
    concurrent_shots : int
        Shots that are computed at a time; 0: chosen.
    memory : int, optional
        Bytes that may be allocated; default: what is free.
    device_memory : int, optional
        Bytes of a device's memory that may be used; on hosts the smaller of `memory` and `device_memory`
        limits what is in core. With source_field "random", gradients of larger models stream through them,
        plane by plane, with the same bits. Default: what is free; no streaming on hosts. With several
        devices: bytes of each of them.
    devices : int or "auto"
        Devices of this process that compute each shot, 1 to 64; on hosts threads. More than 1: each holds a
        slab of the grid along x, with the bits of one; with source_field "random" and block or updates, or
        where the slabs do not fit, they form a chain through which gradients stream. "auto": as few as have
        the memory, at least 2; 1 on hosts and with one device. Models, variables and results are on the host.
    block, updates : int, optional
        With source_field "random": planes of a block, and time steps of a pass, of gradients that stream.
        Default: no streaming, or the fastest by rates measured on the machine.
    random_width, seed : int
        Nodes of the layers with source_field "random", 1 to 1000, and seed of their velocities.
    space : {"host", "cuda"}, optional
        Where to compute, in a build with CUDA; results are on the host. Default: where vp is.
    progress : callable(fraction, text), optional
        As for shots; called while the data are loaded.

    Raises
    ------
    InputError
        An argument is invalid, or a gather cannot be inverted.
    OutOfMemoryError
        Model, wavefields and data do not fit the memory.

    Notes
    -----
    With gradient_steps=1 gradients are exact derivatives of the discrete misfit, to rounding, except at nodes
    next to absorbing layers: there the contribution of the layers is missing. docs/theory/inversion.md has
    the equations; Plessix (2006), adjoint states; Bunks et al. (1995), frequency bands; Nocedal (1980),
    L-BFGS.
    """

    def __init__(
        self,
        vp: Any,
        gathers: Union[Gather, Sequence[Gather]],
        *,
        spacing: Any = None,
        wavelet: Any,
        time: Optional[float] = None,
        density: Any = None,
        epsilon: Any = None,
        delta: Any = None,
        theta: Any = None,
        phi: Any = None,
        origin: Any = None,
        faces: Optional[str] = None,
        free_surface: bool = False,
        dt: Optional[float] = None,
        order: int = 8,
        equations: str = "self_adjoint",
        sigma: float = 0.75,
        source_taper: Optional[float] = None,
        wavelet_interval: Optional[float] = None,
        parameters: Union[str, Sequence[str]] = "vp",
        variables: str = "log",
        bounds: Optional[Mapping[str, Any]] = None,
        mask: Any = None,
        misfit: str = "least-squares",
        huber: float = 1.0,
        offset_weights: str = "",
        mute: str = "none",
        zero: str = "start",
        bands: Sequence[float] = (),
        source_field: str = "auto",
        gradient_steps: int = 0,
        concurrent_shots: int = 0,
        memory: Optional[int] = None,
        device_memory: Optional[int] = None,
        devices: Union[int, str] = 1,
        block: Optional[int] = None,
        updates: Optional[int] = None,
        random_width: int = 60,
        seed: int = 2011,
        space: Optional[str] = None,
        progress: Optional[Callable[[float, str], Any]] = None,
    ) -> None:
        given = locals()
        self._returned = _labelled.returned(vp)
        more = {"density": density, "epsilon": epsilon, "delta": delta, "theta": theta, "phi": phi}
        vp, spacing, origin = _labelled.placed(vp, "vp", spacing, origin, **more)
        fields = wave_fields(vp, **more)
        vp = fields[0]
        data = gather_arguments(gathers, vp.ndim)
        if time is None:
            time = run_length(data, zero, wavelet, wavelet_interval)
        self._names = _inversion_arguments.parameters_of(parameters, fields)
        self._shape, self._dtype = _arrays.kind_of(vp)
        self._device = _arrays.on_device(vp)
        self._bands = _inversion_arguments.bands_of(bands)
        self._count = len(data[0])
        mask = _inversion_arguments.mask_of(mask, vp)
        self._fixed = None if mask is None else np.tile(mask.ravel() == 0, len(self._names))
        if _arrays.text(mute, "mute", "velocity:1500").split(":")[0] == "arrivals":
            raise InputError(
                "mute is 'arrivals' (allowed: none, velocity:V): what is muted may not move with the model"
            )
        live, self._live = _inversion_arguments.live_gathers(data)
        with _inversion_arguments.limits():
            self._objective = core().make_objective(
                *wave_arguments(
                    fields, spacing, origin, wavelet, wavelet_interval, faces, free_surface, time, dt, None
                ),
                *scheme_arguments(order, equations, sigma),
                taper_radius(source_taper),
                _arrays.memory_bytes(memory),
                *live,
                [PARAMETERS.index(name) for name in self._names],
                _inversion_arguments.bounds_of(bounds, self._names),
                _arrays.choice(variables, "variables", ("log", "linear")) == "log",
                _arrays.choice(misfit, "misfit", MISFITS),
                _inversion_arguments.huber_of(huber),
                _arrays.text(offset_weights, "offset_weights", "0:0,200:0.3,600:1"),
                mute,
                _arrays.choice(zero, "zero", ("start", "peak")),
                _arrays.choice(source_field, "source_field", SOURCE_FIELDS),
                self._bands,
                mask,
                _arrays.whole(concurrent_shots, "concurrent_shots", 0, 1024),
                _inversion_arguments.stream_of(source_field, device_memory, devices, block, updates)
                + _arrays.random_layers(random_width, seed),
                _arrays.whole(gradient_steps, "gradient_steps", 0, 1000000),
                _arrays.space_of(space, vp),
                _arrays.callback(progress),
            )
        warn_without_effect(fields, equations, sigma, source_taper)
        if self._objective.plan.notes:
            warnings.warn(self._objective.plan.notes, stacklevel=2)
        given.update(gathers=_checkpoint.gathers_text(data), spacing=spacing, origin=origin)
        self._made_from = _checkpoint.made_from(given)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Inverted parameters, in the order of the variables."""
        return self._names

    @property
    def start(self) -> np.ndarray:
        """Variables of the initial model: zeros, (variables,)."""
        return np.zeros(self._objective.variables)

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest variables, (variables,) each, for scipy.optimize.Bounds; 0 where mask is 0."""
        core()
        return self._objective.bounds()

    @property
    def value_bounds(self) -> dict[str, tuple[float, float]]:
        """Bounds of the values of each parameter, in its unit."""
        return dict(zip(self._names, self._objective.plan.bounds))

    @property
    def plan(self) -> Plan:
        """Time steps, source wavefield, memory and expected seconds, which prints as lines: moho.Plan."""
        plan = self._objective.plan
        numbers = {**plan.numbers, "slabs": plan.slabs, "bounds": self.value_bounds}
        return Plan(numbers, objective_text(numbers))

    @property
    def dt(self) -> float:
        """Time step, s."""
        return self._objective.plan.dt

    @property
    def steps(self) -> int:
        """Number of time steps of a shot."""
        return self._objective.plan.steps

    @property
    def medium(self) -> str:
        """Medium: "isotropic", "variable_density", "vti" or "tti"."""
        return self._objective.plan.medium

    @property
    def source_field(self) -> str:
        """Method of the source wavefield, one of those of the argument."""
        return self._objective.plan.source_field

    @property
    def streamed(self) -> bool:
        """True if gradients stream through `device_memory`."""
        return self._objective.plan.streamed

    @property
    def slabs(self) -> Optional[dict[str, Any]]:
        """Slabs of several devices: their "count", "planes" along x with layers, and "bytes_on_each" at most.

        Gradients on one device, or in a stream, have no slabs: the value is None.
        """
        return self._objective.plan.slabs

    @property
    def concurrent_shots(self) -> int:
        """Shots that are computed at a time."""
        return self._objective.plan.concurrent_shots

    def __call__(
        self, x: Any, *, progress: Optional[Callable[[float, str], Any]] = None
    ) -> tuple[float, np.ndarray]:
        """Returns the misfit and its gradient.

        Parameters
        ----------
        x : array, shape (variables,)
            Variables.
        progress : callable(fraction, text), optional
            Called by this thread while another one computes. What it raises ends the evaluation.

        Returns
        -------
        (float, numpy.ndarray of shape (variables,) and float64)
            Misfit, divided by that of traces of zeros, and its derivative by each variable.

        Raises
        ------
        InputError
            x has another size, or the model is not stable with the time step.
        NotFiniteError
            A wavefield overflowed.
        """
        core()
        misfit, gradient = self._objective.evaluate(self._variables(x), _arrays.callback(progress))
        self._warn(2)
        if self._fixed is not None:
            gradient[self._fixed] = 0.0
        return misfit, gradient

    def model(self, x: Any) -> dict[str, np.ndarray]:
        """Values of the inverted parameters in their units, each of the shape and type of vp.

        Parameters
        ----------
        x : array, shape (variables,)
            Variables.
        """
        x = self._variables(x)
        core()
        result = {}
        for name in self._names:
            result[name] = np.empty(self._shape, self._dtype)
            self._objective.values(x, PARAMETERS.index(name), result[name])
            if not self._device:
                result[name] = self._returned(result[name], PARAMETER_UNITS[name], name)
        return result

    def modelled(
        self, x: Any, shot: int, *, progress: Optional[Callable[[float, str], Any]] = None
    ) -> np.ndarray:
        """Modelled traces of a shot at the time steps, in the present band.

        Parameters
        ----------
        x : array, shape (variables,)
            Variables.
        shot : int
            Position of its gather.

        Returns
        -------
        numpy.ndarray, shape (receivers, steps + 1), float32
            Zeros at traces of zeros, which are left out.
        """
        x = self._variables(x)
        core()
        shot = _arrays.whole(shot, "shot", 0, self._count - 1)
        traces = self._objective.modelled(x, shot, _arrays.callback(progress)).reshape(-1, self.steps + 1)
        live = self._live[shot]
        if live.all():
            return traces
        result = np.zeros((live.size, traces.shape[1]), traces.dtype)
        result[live] = traces
        return result

    def illumination(self) -> np.ndarray:
        """Sum of p^2 dt of the sources over shots and time in the latest evaluation, of the shape of vp."""
        core()
        result = np.empty(self._shape, self._dtype)
        self._objective.illumination(result)
        return result

    def set_band(self, corner: float) -> None:
        """Applies a low-pass to data and wavelet of later evaluations.

        Parameters
        ----------
        corner : float
            One of the argument `bands`, Hz; 0: all frequencies, if there are no bands.
        """
        corner = _arrays.number(corner, "corner")
        if corner not in (self._bands or [0.0]):
            allowed = f"those of bands: {', '.join(f'{one:g}' for one in self._bands)}"
            raise InputError(
                f"corner: it is {corner:g} Hz (allowed: {allowed if self._bands else '0, bands is empty'})"
            )
        core()
        self._objective.set_band(corner)

    def search(
        self,
        *,
        iterations: int = 10,
        pairs: int = 5,
        first_change: float = 0.01,
        precondition: bool = False,
        checkpoint: Any = None,
    ) -> Search:
        """Begins L-BFGS in one band after another; iterate over the result.

        Parameters
        ----------
        iterations : int
            Largest number of iterations in each band.
        pairs : int
            Stored pairs of differences, 1 to 64.
        first_change : float
            Largest change of a variable in the first trial; an accepted step may be longer.
        precondition : bool
            True: by the illumination at the start of each band.
        checkpoint : str or path, optional
            File of the search, written after each evaluation. If it exists, the search goes on after the
            latest evaluation in it, with the same bits. It has 2 `pairs` + 5 vectors of the variables, and is
            not removed.

        Raises
        ------
        InputError
            A number is out of range; the checkpoint is of other arguments.
        FileError
            The checkpoint is damaged, or another kind of file.
        """
        file = _checkpoint.path_of(checkpoint)
        limits = {
            "iterations": _arrays.whole(iterations, "iterations", 1, 100000),
            "pairs": _arrays.whole(pairs, "pairs", 1, 64),
            "first_change": _arrays.number(first_change, "first_change"),
            "precondition": _arrays.flag(precondition, "precondition"),
        }
        made_from = self._made_from + "\n" + _checkpoint.lines_of(limits)
        core()
        return Search(
            self,
            self._objective.search(self._bands, *limits.values(), file, made_from),
        )

    def close(self) -> None:
        """Releases the memory of models, wavefields and data; results remain valid."""
        core()
        self._objective.close()

    def __enter__(self) -> Objective:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _warn(self, level: int) -> None:
        """Warns of data that are much stronger or weaker than modelled ones, once. level: of the caller."""
        note = self._objective.take_note()
        if note:
            warnings.warn(note, stacklevel=level + 1)

    def _variables(self, x: Any) -> np.ndarray:
        x = np.ascontiguousarray(_arrays.numbers(x, "x"))
        if x.size != self._objective.variables:
            raise InputError(
                f"x: it has {x.size} numbers (allowed: {self._objective.variables}, the variables of each "
                "parameter on the nodes)"
            )
        x = x.reshape(-1)
        finite = np.isfinite(x)
        if not finite.all():
            k = int(np.argmin(finite))
            raise InputError(f"x: number {k} is {x[k]} (allowed: finite numbers)")
        return x if self._fixed is None else np.where(self._fixed, 0.0, x)


@dataclass(frozen=True)
class Evaluation:
    """An evaluation of a search."""

    band: int  #: from 1
    frequency: float  #: corner of the band, Hz; 0: all frequencies
    evaluation: int  #: from 1
    iteration: int  #: accepted steps so far
    taken: bool  #: True if the evaluation was an accepted step
    misfit: float  #: divided by that of traces of zeros; inf: the densities of this model cannot be stepped
    relative: float  #: divided by the first one of the band
    gradient: float  #: norm of the gradient at the best point
    step: float  #: length of the trial step; 0: the start of a band


class Search(OfThisProcess):
    """A search by L-BFGS, from Objective.search(): an iterator of moho.Evaluation.

    Each step of the iteration evaluates the misfit once, in the band of the search: the objective may be used
    otherwise in between, and is left in that band. The iteration may end at any step, and an evaluation
    that was interrupted can be repeated: the search continues with the same bits.

    Examples
    --------
    ::

        search = objective.search(iterations=20)
        for evaluation in search:
            print(evaluation.iteration, evaluation.misfit)
        vp = search.model()["vp"]
    """

    def __init__(self, objective: Objective, search: Any) -> None:
        self._objective = objective
        self._search = search

    def __iter__(self) -> Iterator[Evaluation]:
        return self

    def __next__(self) -> Evaluation:
        found = self._advance(None)
        if found is None:
            raise StopIteration
        return found

    def advance(self, *, progress: Optional[Callable[[float, str], Any]] = None) -> Optional[Evaluation]:
        """Evaluates once. Returns None after the last iteration.

        Parameters
        ----------
        progress : callable(fraction, text), optional
            As for Objective.
        """
        return self._advance(progress)

    def _advance(self, progress: Optional[Callable[[float, str], Any]]) -> Optional[Evaluation]:
        core()
        found = self._search.advance(_arrays.callback(progress))
        self._objective._warn(3)
        return None if found is None else Evaluation(*found)

    @property
    def x(self) -> np.ndarray:
        """Variables of the best point so far, (variables,)."""
        core()
        return self._search.best()

    @property
    def message(self) -> str:
        """Reason for the end of the search in the present band."""
        core()
        return self._search.message()

    def model(self) -> dict[str, np.ndarray]:
        """Values of the parameters at the best point so far, as Objective.model()."""
        return self._objective.model(self.x)
