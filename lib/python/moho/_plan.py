# SPDX-License-Identifier: BSD-3-Clause
"""Plans: what a computation chose, needs and takes, before it begins."""

from __future__ import annotations

from typing import Any


class Plan(dict):
    """Choices, memory and expected time of a computation: a dict of its numbers, and text of a few lines.

    `print(plan)` shows the text; `plan["memory"]` and others are numbers. Times are in s, frequencies in Hz,
    memory in bytes. Each plan has "medium", "nodes" (along each axis, with layers), "order", "dt",
    "largest_dt" (of the stable ones), "steps", "frequency" (highest of the wavelet), "nodes_per_wave" (nodes
    per shortest wavelength), "concurrent_shots" and "batch_size" (shots in the same launches), and:

    - moho.Shots: "faces", "interval", "samples", "snapshots", "peak_time", "nodes_per_wave_wanted",
      "source_taper", "parameter_bits", "slabs", "memory" of model, wavefield and traces.
    - moho.Migration: "peak_time", "storage", "storage_reason", "snapshot_steps", "snapshots",
      "snapshot_bytes", "memory" of a shot without snapshots, "slabs", "stream", "shots", "seconds" of all
      shots.
    - moho.Objective: "gradient_steps", "source_field", "source_bytes", "fixed_bytes", "memory_limit",
      "data_bytes", "slabs", "stream", "bounds", "variables", "seconds" of an evaluation.
    """

    def __init__(self, numbers: dict[str, Any], text: str) -> None:
        super().__init__(numbers)
        self._text = text

    @property
    def text(self) -> str:
        """The lines that print() shows."""
        return self._text

    def __str__(self) -> str:
        return self._text

    def __reduce__(self) -> Any:
        return Plan, (dict(self), self._text)


def bytes_text(count: float) -> str:
    """A number of bytes for people: "12.5 MiB"."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} TiB"


def scheme_lines(plan: dict[str, Any], where: str = "") -> list[str]:
    """The lines of medium and time steps, as those of the programs."""
    nodes = " x ".join(map(str, plan["nodes"]))
    return [
        f"medium    {plan['medium']}, {nodes} nodes with layers",
        f"scheme    order {plan['order']}, dt {plan['dt']:.6g} s (stable up to {plan['largest_dt']:.4g}"
        f"{where}), {plan['steps']} steps, {plan['nodes_per_wave']:.3g} nodes per shortest wave",
    ]


def slab_lines(plan: dict[str, Any]) -> list[str]:
    """The line of the slabs of several devices, if they have a shot."""
    slabs = plan["slabs"]
    if slabs is None:
        return []
    planes = ", ".join(map(str, slabs["planes"]))
    return [
        f"devices   {slabs['count']} slabs of {planes} planes, {bytes_text(slabs['bytes_on_each'])} on each "
        "at most"
    ]


def concurrent_lines(plan: dict[str, Any]) -> list[str]:
    """Lines of the shots that are computed at a time, if there are several."""
    lines = []
    if plan["concurrent_shots"] > 1:
        lines.append(f"shots     {plan['concurrent_shots']} at a time")
    if plan["batch_size"] > 1:
        lines.append(f"          {plan['batch_size']} of them in the same launches")
    return lines


def shots_text(plan: dict[str, Any]) -> str:
    """The plan of moho.Shots."""
    lines = scheme_lines(plan)
    lines[-1] += f" (needed {plan['nodes_per_wave_wanted']:.3g})"
    lines.append(
        f"          faces {plan['faces']}; wavelet up to {plan['frequency']:.4g} Hz, peak at "
        f"{plan['peak_time']:.4g} s"
    )
    lines.append(f"          samples every {1e3 * plan['interval']:.6g} ms, {plan['samples']} of them")
    if plan["snapshots"] > 0:
        lines.append(f"          {plan['snapshots']} snapshots of the first shot")
    if plan["source_taper"] > 0:
        lines.append(
            f"          delta is tapered to epsilon within {plan['source_taper']:.3g} m of the sources"
        )
    lines += slab_lines(plan)
    lines += concurrent_lines(plan)
    bits = ", parameters in 16 bits" if plan["parameter_bits"] == 16 else ""
    lines.append(f"memory    {bytes_text(plan['memory'])}{bits}")
    return "\n".join(lines)


def objective_text(plan: dict[str, Any]) -> str:
    """The plan of moho.Objective."""
    lines = scheme_lines(plan, " within the bounds")
    lines.append(f"          wavelet up to {plan['frequency']:.4g} Hz in the last band")
    bounds = ", ".join(f"{name} from {low:.5g} to {high:.5g}" for name, (low, high) in plan["bounds"].items())
    lines.append(f"unknowns  {bounds}; {plan['variables']} of them")
    every = plan["gradient_steps"]
    steps = "every step" if every == 1 else f"every {every} steps"
    if plan["stream"]:
        lines.append(
            f"gradient  {steps}, source's wavefield by random, beside the adjoint field in a stream"
        )
        lines += [f"stream    {line}" for line in plan["stream"]]
    else:
        each = " on each device" if plan["slabs"] else ""
        lines.append(
            f"gradient  {steps}, source's wavefield by {plan['source_field']}: "
            f"{bytes_text(plan['source_bytes'])} besides {bytes_text(plan['fixed_bytes'])} of "
            f"{bytes_text(plan['memory_limit'])}{each}"
        )
    lines += slab_lines(plan)
    lines += concurrent_lines(plan)
    lines.append(f"memory    {bytes_text(plan['data_bytes'])} of data")
    lines.append(f"time      about {plan['seconds']:.2g} s an evaluation")
    return "\n".join(lines)
