# SPDX-License-Identifier: BSD-3-Clause
"""Reverse-time migration of surveys."""

from __future__ import annotations

import warnings
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from . import _arrays, _checkpoint, _labelled
from ._errors import InputError
from ._gathers import Gather, gather_arguments, run_length
from ._plan import Plan
from ._runtime import OfThisProcess, core
from ._wave_arguments import (
    EXPANSIONS,
    scheme_arguments,
    taper_radius,
    warn_without_effect,
    wave_arguments,
    wave_fields,
)

CONDITIONS = ("inverse-scattering", "zero-lag", "source", "receiver", "laplacian")
SNAPSHOTS = ("auto", "device", "memory", "compressed", "threads", "boundary", "replay", "random")


class Migration(OfThisProcess):
    """Reverse-time migration of the shots of a survey over one model, as in the program migrate_shots.

    The constructor plans all shots: time step, storage of the source wavefield, shots at a time. `add()`
    migrates gathers and adds them; `image()` applies an imaging condition to the sums, as often as wanted.
    Sums have the same bits for any order of the gathers.

    Parameters
    ----------
    vp, spacing, wavelet, density, epsilon, delta, theta, phi, origin, faces, free_surface
        Migration model, wavelet and faces, as for moho.Shots.
    dt, order, equations, sigma, source_taper, wavelet_interval
        As for moho.Shots.
    gathers : sequence of moho.Gather
        All shots of the survey. Their positions are used here; their traces when they are added.
    time : float, optional
        Time to model, s. Default: to the last sample of all gathers.
    mute : str
        "none", "arrivals" or "velocity:V", the latter with ":DELAY" or ":DELAY:TAPER" (m/s, s): traces before
        first arrivals in the model, or before the straight ray, are muted.
    spreading : str
        "none", "line", "line:V", "gain:POWER", "half-derivative", "half-integral", joined by "+".
    normalise : bool
        True: each shot is divided by its root mean square.
    zero : {"start", "peak"}
        Time of the wavelet that is time zero of the data: its first or its largest sample.
    aperture : float or (float, float), optional
        Part of the model beyond sources and receivers in which a shot is migrated, m, along x, or x and y.
        Default: the complete model.
    expand : {"none", "layers", "eikonal", "amplitude"}
        Method that confines steps to the nodes that waves have reached.
    complete_receivers : bool
        True: the condition "receiver" can be used with `expand`, too.
    columns : sequence of float, or array of shape (n, 2) in 3D
        x, or x and y, of offset gathers, m.
    half_offset : float, optional
        Largest half offset of the gathers, m, from a node to a quarter of the model's width.
        Default: a tenth of the width.
    snapshots : str
        Storage of the source wavefield: "auto", "device", "memory", "compressed", "threads",
        "boundary", "replay", or "random", where it returns through random layers and nothing is stored.
    error : str
        Accepted loss of snapshots: "snr:DB", "max:E", "bits:N", "paper:E" or "lossless".
    snapshot_steps : int
        Steps between snapshots; 0: by the wavelet.
    concurrent_shots : int
        Shots that are migrated at a time; 0: chosen.
    memory : int, optional
        Bytes that may be allocated; default: what is free.
    device_memory : int, optional
        Bytes of a device that may be allocated; default: `memory`. Shots that take more stream through it
        with the storage "random", plane by plane; on hosts with a given device_memory alone.
    devices : int or "auto"
        Devices of this process that hold each shot in slabs along x, 1 to 64, with the bits of one device
        for the same storage; on hosts threads. Shots that do not fit them stream through a chain of the
        devices. "auto": as few as suffice; 1 on hosts.
    block, updates : int, optional
        Planes of a block, and time steps of a pass, of shots that stream. Default: no streaming, or the
        fastest by rates measured on the machine.
    random_width, seed : int
        Nodes of the layers of snapshots "random", 1 to 1000, and seed of their velocities.
    space : {"host", "cuda"}, optional
        Where to compute, in a build with CUDA; results are on the host. Default: where vp is.
    checkpoint : str or path, optional
        File of the sums. If it exists, its shots count as added: `missing` has the other ones. add() writes
        it, while it runs at most every 10 s and with a twentieth of the time, and before it returns or
        raises, so that a later process continues with the same bits. It takes as many bytes as the sums, 114
        for each node at most, and is not removed.
    progress : callable(fraction, text), optional
        Called while the migration is planned.

    Raises
    ------
    InputError
        An argument is invalid, or a position is outside of the model; a checkpoint is of other arguments.
    FileError
        The checkpoint is damaged, or another kind of file.
    OutOfMemoryError
        A shot does not fit the memory.

    Notes
    -----
    docs/theory/migration.md describes wavefields, storage and conditions; Claerbout (1971),
    cross-correlation; Douma et al. (2010), inverse scattering.

    Examples
    --------
    ::

        migration = moho.Migration(vp, gathers, spacing=10, wavelet="ricker:15")
        for gather in gathers:
            migration.add(gather)
        image = migration.image()

    One that goes on where an interrupted process ended::

        migration = moho.Migration(vp, gathers, ..., checkpoint="line.sums")
        migration.add([gathers[k] for k in migration.missing])
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
        mute: str = "arrivals",
        spreading: str = "none",
        normalise: bool = False,
        zero: str = "start",
        aperture: Any = None,
        expand: str = "none",
        complete_receivers: bool = False,
        columns: Any = (),
        half_offset: Optional[float] = None,
        snapshots: str = "auto",
        error: str = "snr:55",
        snapshot_steps: int = 0,
        concurrent_shots: int = 0,
        memory: Optional[int] = None,
        device_memory: Optional[int] = None,
        devices: Union[int, str] = 1,
        block: Optional[int] = None,
        updates: Optional[int] = None,
        random_width: int = 60,
        seed: int = 2011,
        space: Optional[str] = None,
        checkpoint: Any = None,
        progress: Optional[Callable[[float, str], Any]] = None,
    ) -> None:
        given = locals()
        file = _checkpoint.path_of(checkpoint)
        self._returned = _labelled.returned(vp)
        more = {"density": density, "epsilon": epsilon, "delta": delta, "theta": theta, "phi": phi}
        vp, spacing, origin = _labelled.placed(vp, "vp", spacing, origin, **more)
        fields = wave_fields(vp, **more)
        vp = fields[0]
        data = gather_arguments(gathers, vp.ndim, finite=False)
        if time is None:
            time = run_length(data, zero, wavelet, wavelet_interval)
        self._shape, self._dtype = _arrays.kind_of(vp)
        self._device = _arrays.on_device(vp)
        self._spacing = _arrays.per_axis(spacing, "spacing", vp.ndim)
        self._positions = [(at.tobytes(), to.tobytes()) for at, to in zip(data[1], data[2])]
        width = vp.ndim - 1
        self._columns = _arrays.numbers(columns, "columns")
        if self._columns.size % width != 0 or (width == 1 and self._columns.ndim > 1):
            raise InputError(
                f"columns: its shape is {_arrays.shape_text(self._columns.shape)} (allowed: n numbers in "
                "2D, x; n x 2 in 3D, x and y)"
            )
        self._columns = self._columns.reshape(-1)
        self._mute = _arrays.text(mute, "mute", "velocity:1500")
        sizes = _arrays.stream_sizes(device_memory, _arrays.devices_of(devices), block, updates)
        _arrays.choice(expand, "expand", EXPANSIONS)
        _arrays.choice(snapshots, "snapshots", SNAPSHOTS)
        at_once = _arrays.whole(concurrent_shots, "concurrent_shots", 0, 1024)
        _check_stream(sizes, expand, snapshots, at_once)
        with _arrays.renamed(("codec", "error")):
            self._migration = core().make_migration(
                *wave_arguments(
                    fields, spacing, origin, wavelet, wavelet_interval, faces, free_surface, time, dt, None
                ),
                *scheme_arguments(order, equations, sigma),
                taper_radius(source_taper),
                _arrays.memory_bytes(memory),
                *data,
                expand,
                self._mute,
                _arrays.text(spreading, "spreading", "line"),
                _arrays.choice(zero, "zero", ("start", "peak")),
                _arrays.flag(normalise, "normalise"),
                _arrays.flag(complete_receivers, "complete_receivers"),
                [] if aperture is None else _widths(aperture),
                self._columns.tolist(),
                0.0 if half_offset is None else _arrays.positive(half_offset, "half_offset"),
                snapshots,
                _arrays.text(error, "error", "snr:55"),
                _arrays.whole(snapshot_steps, "snapshot_steps", 0, 1000000),
                at_once,
                sizes + _arrays.random_layers(random_width, seed),
                _arrays.space_of(space, vp),
                file,
                self._made_from(given, data, spacing, origin) if file else "",
                _arrays.callback(progress),
            )
        warn_without_effect(fields, equations, sigma, source_taper)

    @staticmethod
    def _made_from(given: dict[str, Any], data: list[list[Any]], spacing: Any, origin: Any) -> str:
        found = {name: value for name, value in given.items() if name != "checkpoint"}
        found.update(gathers=_checkpoint.gathers_text(data), spacing=spacing, origin=origin)
        return _checkpoint.made_from(found)

    @property
    def plan(self) -> Plan:
        """Time step, storage, memory and expected seconds, a dict that prints as lines: moho.Plan."""
        plan = self._migration.plan
        return Plan({**plan.numbers, "slabs": plan.slabs}, plan.text)

    @property
    def dt(self) -> float:
        """Time step, s."""
        return self._migration.plan.dt

    @property
    def steps(self) -> int:
        """Number of time steps of a propagation."""
        return self._migration.plan.steps

    @property
    def medium(self) -> str:
        """Medium: "isotropic", "variable_density", "vti" or "tti"."""
        return self._migration.plan.medium

    @property
    def storage(self) -> str:
        """Storage of the source wavefield that was chosen."""
        return self._migration.plan.storage

    @property
    def streamed(self) -> bool:
        """True if shots stream through a device, or a chain of devices."""
        return self._migration.plan.streamed

    @property
    def slabs(self) -> Optional[dict[str, Any]]:
        """Slabs of the largest shot: their "count", "planes" along x with layers, "bytes_on_each" at most.

        Shots on one device, or in a stream, have no slabs: the value is None.
        """
        return self._migration.plan.slabs

    @property
    def snapshot_steps(self) -> int:
        """Steps between snapshots of the source wavefield."""
        return self._migration.plan.snapshot_steps

    @property
    def concurrent_shots(self) -> int:
        """Shots that are migrated at a time."""
        return self._migration.plan.concurrent_shots

    @property
    def shots(self) -> int:
        """Number of shots that were added."""
        core()
        return len(self._migration.added())

    @property
    def missing(self) -> list[int]:
        """Positions of those gathers of the constructor that neither add() nor `checkpoint` has added."""
        core()
        added = set(self._migration.added())
        return [k for k in range(len(self._positions)) if k + 1 not in added]

    def add(
        self,
        gathers: Union[Gather, Sequence[Gather]],
        *,
        progress: Optional[Callable[[float, str], Any]] = None,
    ) -> None:
        """Migrates gathers of the survey, several at a time, and adds them to the sums.

        Parameters
        ----------
        gathers : moho.Gather, or a sequence of them
            Each has the positions of one shot of the survey, which was not added before.
        progress : callable(fraction, text), optional
            Called by this thread while another one computes. What it raises ends the migration; shots that
            were complete remain added.

        Raises
        ------
        InputError
            A gather is of no shot of the survey, or was added before, or its traces are invalid.
        FileError
            The checkpoint cannot be written; the shots remain added.
        NotFiniteError
            A wavefield overflowed.
        """
        data = gather_arguments(gathers, len(self._shape))
        numbers = []
        for k, (at, to) in enumerate(zip(data[1], data[2])):
            position = (at.tobytes(), to.tobytes())
            if position not in self._positions:
                raise InputError(
                    f"gathers[{k}]: no shot of the survey has its positions (allowed: sources and receivers "
                    "as given to the constructor)"
                )
            numbers.append(self._positions.index(position))
        if len(set(numbers)) < len(numbers):
            raise InputError("gathers: two of them are of the same shot (allowed: each shot once)")
        core()
        order = sorted(range(len(numbers)), key=numbers.__getitem__)
        self._migration.add(
            [numbers[k] for k in order],
            *[[values[k] for k in order] for values in data],
            _arrays.callback(progress),
        )

    def image(self, condition: str = "inverse-scattering", *, level: float = 1e-3) -> np.ndarray:
        """Image of the shots that were added.

        Parameters
        ----------
        condition : {"inverse-scattering", "zero-lag", "source", "receiver", "laplacian"}
            Half the Laplacian of the cross-correlation; the cross-correlation; that divided by the
            illumination of sources or receivers; the Laplacian of "source".
        level : float
            Part of the largest illumination that is added to divisors.

        Returns
        -------
        numpy.ndarray, of the shape and type of vp
            A UserWarning says if it is zero, such as where `mute` leaves no sample of the traces.
        """
        _arrays.choice(condition, "condition", CONDITIONS)
        core()
        result = np.empty(self._shape, self._dtype)
        self._migration.image(condition, _arrays.positive(level, "level"), result)
        if not result.any():
            reason = (
                "waves of sources and traces do not meet within time"
                if self._mute == "none"
                else f"mute {_arrays.shown(self._mute)} leaves no sample of the traces"
            )
            warnings.warn(f"the image is zero: no shot was added, traces are zero, or {reason}", stacklevel=2)
        return self._shown(result, "image")

    def illumination(self, of: str = "source") -> np.ndarray:
        """Sum of squares of a wavefield over shots and time, of the shape and type of vp.

        Parameters
        ----------
        of : {"source", "receiver"}
            Wavefield. With `expand`, that of the receivers is complete with `complete_receivers` alone.
        """
        _arrays.choice(of, "of", ("source", "receiver"))
        core()
        result = np.empty(self._shape, self._dtype)
        self._migration.part(1 if of == "source" else 2, result)
        return self._shown(result, f"{of}_illumination")

    def _shown(self, result: np.ndarray, name: str) -> Any:
        return result if self._device else self._returned(result, "", name)

    @property
    def half_offsets(self) -> np.ndarray:
        """Half offsets of the gathers, m."""
        plan = self._migration.plan
        return plan.apart * (np.arange(plan.half_offsets) - plan.half_offsets // 2)

    def offset_gathers(self) -> np.ndarray:
        """Offset gathers of the shots that were added: (columns, half offsets, depths), float64."""
        core()
        depths = self._shape[-1]
        return self._migration.offset_gathers().reshape(-1, max(len(self.half_offsets), 1), depths)

    def angle_gathers(self, angles: Any = None) -> np.ndarray:
        """Angle gathers, by slant stacks of the offset gathers.

        Parameters
        ----------
        angles : array, shape (n,), optional
            Degrees from -89 to 89. Default: -60, -58, ..., 60.

        Returns
        -------
        numpy.ndarray, shape (columns, n, depths), float64
        """
        given = np.arange(-60.0, 61.0, 2.0) if angles is None else _arrays.numbers(angles, "angles")
        angles = np.atleast_1d(given)
        if angles.ndim != 1 or angles.size == 0 or not (np.abs(angles) <= 89.0).all():
            raise InputError(f"angles is {given.tolist()} (allowed: one or more numbers, -89 to 89 degrees)")
        apart = self._migration.plan.apart
        stacks = [
            core().angle_gather(np.ascontiguousarray(gather), apart, self._spacing[-1], angles.tolist())
            for gather in self.offset_gathers()
        ]
        return np.array(stacks).reshape(-1, len(angles), self._shape[-1])

    def close(self) -> None:
        """Releases the memory of models, wavefields and sums; images remain valid."""
        core()
        self._migration.close()

    def __enter__(self) -> Migration:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _widths(aperture: Any) -> list[float]:
    """Widths of an aperture along x, or x and y, m."""
    widths = np.atleast_1d(_arrays.numbers(aperture, "aperture"))
    if widths.ndim != 1:
        raise InputError(f"aperture is {_arrays.shown(aperture)} (allowed: one number, or two for x and y)")
    return widths.tolist()


def _check_stream(sizes: list[int], expand: str, snapshots: str, concurrent_shots: int) -> None:
    """Refuses what does not combine with a stream, several devices or random layers."""
    _, devices, block, updates = sizes
    stream = "block" if block > 0 else "updates" if updates > 0 else ""
    random = "snapshots random" if snapshots == "random" else ""
    if expand != "none" and (random or stream):
        raise InputError(
            f"{random or stream} and expand {expand} (allowed together: expand none): the source's wavefield "
            "comes back from all faces, which a domain leaves out"
        )
    if stream and not random and snapshots != "auto":
        raise InputError(
            f"{stream} and snapshots {snapshots} (allowed together: auto or random): a stream keeps no "
            "snapshots"
        )
    if concurrent_shots > 1 and (devices > 1 or stream):
        raise InputError(
            f"{stream or f'devices {devices}'} and concurrent_shots {concurrent_shots} (allowed together: "
            "1): shots are migrated one after the other"
        )
