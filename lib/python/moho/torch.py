# SPDX-License-Identifier: BSD-3-Clause
"""Computations of moho as differentiable functions of PyTorch. They need PyTorch.

Each function takes and returns tensors, and is part of graphs of torch.autograd. Gradients are those of the
library: adjoint time steps, the matrix of rays, the transposes of the solution of the eikonal equation and
of the field of prisms. Second derivatives are refused.

::

    shots = moho.Shots(vp0, spacing=10, wavelet="ricker:12", time=0.6, dt=0.0015)
    vp = torch.tensor(vp0, requires_grad=True)
    traces = moho.torch.shot(shots, (400, 20), receivers, vp)
    torch.nn.functional.mse_loss(traces, observed).backward()  # vp.grad
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from . import _arrays
from ._arrivals import TimeDerivatives
from ._arrivals import first_arrivals as _first_arrivals
from ._errors import InputError
from ._rays import trace_rays
from ._waves import Shots

__all__ = ["first_arrivals", "gravity", "shot", "traveltimes"]

_PARAMETERS = ("vp", "density", "epsilon", "delta", "theta", "phi")


def _values(tensor: Any, name: str) -> Optional[np.ndarray]:
    """The values of a tensor, which share its memory where layout allows."""
    if not isinstance(tensor, torch.Tensor):
        raise InputError(f"{name} is of type {type(tensor).__name__} (allowed: torch.Tensor)")
    if tensor.device.type != "cpu":
        raise InputError(f"{name}: it is on {tensor.device} (allowed: the host): take its cpu()")
    return _arrays.to_numpy(tensor.detach().contiguous(), name)


def _reals(tensor: Any, name: str) -> np.ndarray:
    """The values of a tensor of float32 or float64."""
    values = _values(tensor, name)
    if values.dtype not in (np.float32, np.float64):
        raise InputError(f"{name} is of {tensor.dtype} (allowed: torch.float32, torch.float64): convert it")
    return values


def _field(tensor: Any, name: str, on_device: bool) -> Any:
    """A copy of the values of a tensor that stays the same until backward(), where the shots compute."""
    if not on_device or not isinstance(tensor, torch.Tensor):
        return _values(tensor, name).copy()
    if tensor.device.type != "cuda":
        raise InputError(f"{name}: it is on {tensor.device} (allowed: cuda, as the shots): move it there")
    return tensor.detach().clone(memory_format=torch.contiguous_format)


def _tensor(array: Any) -> torch.Tensor:
    return torch.from_dlpack(array)


class _Shot(Function):
    @staticmethod
    def forward(
        ctx: Any, keeps: bool, shots: Shots, sources: Any, receivers: Any, *fields: Any
    ) -> torch.Tensor:
        device = shots.on_device
        given = zip(_PARAMETERS, fields)
        model = {name: _field(one, name, device) for name, one in given if one is not None}
        shots.update(**model)
        wanted = [name for name, need in zip(_PARAMETERS[:4], ctx.needs_input_grad[4:]) if need and keeps]
        gather = shots(sources, receivers, keep=wanted)
        ctx.call = (shots, sources, receivers, model, gather.wavefield)
        return _tensor(gather.traces)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, derivative: torch.Tensor) -> tuple[Any, ...]:
        shots, sources, receivers, model, wavefield = ctx.call
        wanted = [name for name, need in zip(_PARAMETERS, ctx.needs_input_grad[4:]) if need]
        refused = [name for name in wanted if name in ("theta", "phi")]
        if refused:
            raise InputError(
                f"{refused[0]}: there are no derivatives by the axis (allowed: vp, density, epsilon, delta): "
                "give it without requires_grad"
            )
        if shots.on_device:
            weights = derivative.detach().contiguous()
        else:
            weights = _values(derivative, "derivative")
        found = shots.gradient(sources, receivers, weights, **model, wanted=wanted, wavefield=wavefield)
        return (None, None, None, None, *(_tensor(found[n]) if n in found else None for n in _PARAMETERS))


def shot(
    shots: Shots,
    sources: Any,
    receivers: Any,
    vp: torch.Tensor,
    *,
    density: Optional[torch.Tensor] = None,
    epsilon: Optional[torch.Tensor] = None,
    delta: Optional[torch.Tensor] = None,
    theta: Optional[torch.Tensor] = None,
    phi: Optional[torch.Tensor] = None,
) -> torch.Tensor:
    """Traces of a shot as a function of the model: isotropic, variable density, VTI, TTI.

    Where a gradient is required, the wavefield of all steps is kept until backward(), if it takes at most a
    quarter of the free memory. Otherwise backward() models the shot again, which takes about twice as long.
    At nodes next to absorbing layers the gradient lacks the
    contribution of the layers.

    Parameters
    ----------
    shots : moho.Shots
        Grid, wavelet, faces, time step (with dt=, which stays the same) and medium. Its model is replaced.
        Made with a model in device memory it takes and returns tensors there, in a build with CUDA.
    sources, receivers
        As for a call of moho.Shots, m.
    vp, density, epsilon, delta, theta, phi : torch.Tensor
        The parameters of the medium, of the shape and type of the model of `shots`, in m/s, kg/m3, radians.
        theta and phi have no derivatives.

    Returns
    -------
    torch.Tensor, shape (receivers, samples)
        Pressure, of the type of vp.

    Raises
    ------
    InputError
        As for moho.Shots.update() and a shot; tensors that are not where the model of `shots` is.
    """
    if not isinstance(shots, Shots):
        raise InputError(f"shots is of type {type(shots).__name__} (allowed: moho.Shots)")
    if vp is None:
        raise InputError("vp is None (allowed: torch.Tensor)")
    keeps = torch.is_grad_enabled()
    return _Shot.apply(keeps, shots, sources, receivers, vp, density, epsilon, delta, theta, phi)


class _Traveltimes(Function):
    @staticmethod
    def forward(ctx: Any, slowness: torch.Tensor, options: dict[str, Any]) -> torch.Tensor:
        values = _reals(slowness, "slowness")
        wrong = ~((values > 0.0) & np.isfinite(values))
        if wrong.any():
            at = [int(k) for k in np.argwhere(wrong)[0]]
            raise InputError(f"slowness is {values[tuple(at)]} at node {at} (allowed: positive numbers, s/m)")
        rays = trace_rays(1.0 / values, **options)
        ctx.matrix = rays.matrix()
        ctx.like = (values.shape, values.dtype)
        return _tensor(np.array(rays.traveltimes, values.dtype))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, derivative: torch.Tensor) -> tuple[Any, ...]:
        shape, dtype = ctx.like
        weights = _values(derivative, "derivative").reshape(-1).astype(np.float64)
        return _tensor((ctx.matrix.T @ weights).reshape(shape).astype(dtype)), None


def traveltimes(slowness: torch.Tensor, *, spacing: Any, sources: Any, receivers: Any, **more: Any) -> Any:
    """Traveltimes of first arrivals by shortest paths as a function of slowness; needs SciPy.

    The derivative is the matrix of the rays: exact while the rays stay the same.

    Parameters
    ----------
    slowness : torch.Tensor, shape (nx, nz) or (nx, ny, nz)
        1 / velocity, s/m.
    spacing, sources, receivers
        As for moho.trace_rays, m.
    **more
        Other options of moho.trace_rays, but for weights, which are those of slowness.

    Returns
    -------
    torch.Tensor, shape (sources, receivers)
        Traveltimes, s, of the type of slowness.
    """
    if "weights" in more:
        raise InputError("weights was given (allowed here: none, they are those of slowness): leave it out")
    if receivers is None:
        raise InputError("receivers is None (allowed: positions, m): give them")
    return _Traveltimes.apply(
        slowness, {"spacing": spacing, "sources": sources, "receivers": receivers, **more}
    )


class _FirstArrivals(Function):
    @staticmethod
    def forward(ctx: Any, velocity: torch.Tensor, options: dict[str, Any]) -> torch.Tensor:
        values = _values(velocity, "velocity")
        if not ctx.needs_input_grad[0] and options["receivers"] is None:
            options = {key: value for key, value in options.items() if key != "receivers"}
            return _tensor(_first_arrivals(values, each=True, **options))
        derivatives = TimeDerivatives(values, **options)
        times = _tensor(derivatives.times)
        if ctx.needs_input_grad[0]:
            ctx.derivatives = derivatives
        else:
            derivatives.close()
        return times

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, derivative: torch.Tensor) -> tuple[Any, ...]:
        return _tensor(ctx.derivatives.transpose(_values(derivative, "derivative"))), None


def first_arrivals(
    velocity: torch.Tensor,
    *,
    spacing: Any,
    sources: Any,
    receivers: Any = None,
    origin: Any = 0.0,
    epsilon: Any = None,
    delta: Any = None,
    order: int = 2,
    factored: bool = True,
    memory: Optional[int] = None,
) -> torch.Tensor:
    """First-arrival times by the eikonal equation as a function of velocity.

    The derivative is that of the discrete solution, exact to rounding for the neighbours that the solver
    has chosen. Between forward and backward it is kept, about 60 bytes for each node and source in 2D and
    double precision. The earliest time of all sources is `first_arrivals(...).amin(0)`.

    Parameters
    ----------
    velocity : torch.Tensor, shape (nx, nz) or (nx, ny, nz)
        Velocity along the vertical axis, m/s, float32 or float64.
    spacing, sources, origin, order, factored, memory
        As for moho.first_arrivals.
    receivers : array, shape (m, 2) or (m, 3), optional
        Positions in m. Times there are linear between nodes. Default: times at all nodes.
    epsilon, delta : array of the shape of velocity, or float, optional
        Thomsen's parameters, without unit and without derivatives.

    Returns
    -------
    torch.Tensor, shape (sources, receivers), or (sources, shape of velocity)
        Times, s, of the type of velocity.

    Raises
    ------
    InputError
        As for moho.first_arrivals; a receiver outside of the model; epsilon or delta with requires_grad.
    """
    for name, given in (("epsilon", epsilon), ("delta", delta)):
        if isinstance(given, torch.Tensor) and given.requires_grad:
            raise InputError(
                f"{name}: there are no derivatives by it (allowed: velocity): give it without requires_grad"
            )
    return _FirstArrivals.apply(
        velocity,
        {
            "spacing": spacing,
            "sources": sources,
            "receivers": receivers,
            "origin": origin,
            "epsilon": epsilon,
            "delta": delta,
            "order": order,
            "factored": factored,
            "memory": memory,
            "progress": None,
        },
    )


class _Gravity(Function):
    @staticmethod
    def forward(ctx: Any, density: torch.Tensor, operator: Any) -> torch.Tensor:
        values = _reals(density, "density")
        if values.size != operator.shape[1]:
            raise InputError(f"density: it has {values.size} numbers (allowed: {operator.shape[1]})")
        ctx.operator, ctx.like = operator, (values.shape, values.dtype)
        field = operator.matvec(values.reshape(-1).astype(np.float64))
        return _tensor(field.reshape(operator.dimsd).astype(values.dtype))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, derivative: torch.Tensor) -> tuple[Any, ...]:
        shape, dtype = ctx.like
        weights = _values(derivative, "derivative").reshape(-1).astype(np.float64)
        return _tensor(ctx.operator.rmatvec(weights).reshape(shape).astype(dtype)), None


def gravity(density: torch.Tensor, operator: Any) -> torch.Tensor:
    """Field of prisms as a function of their densities, with the exact transpose; needs SciPy.

    Parameters
    ----------
    density : torch.Tensor
        Densities in kg/m3, in any shape of as many numbers as the operator has prisms.
    operator : moho.linear.GravityOperator
        From moho.linear.gravity_operator.

    Returns
    -------
    torch.Tensor, shape (components, stations)
        Field in m2/s2, mGal, Eotvos, of the type of density.
    """
    if not hasattr(operator, "dimsd"):
        raise InputError(
            f"operator is of type {type(operator).__name__} (allowed: moho.linear.gravity_operator(...))"
        )
    return _Gravity.apply(density, operator)
