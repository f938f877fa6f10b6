# SPDX-License-Identifier: BSD-3-Clause
"""Wavefields of shots that gradients take."""

from __future__ import annotations

import zlib
from typing import Any, Sequence

import numpy as np

from ._errors import InputError


class KeptWavefield:
    """The wavefield of a shot at all steps, with its sources and the checksum of its model."""

    def __init__(self, held: Any, sources: np.ndarray, model: int) -> None:
        self.held, self.sources, self.model = held, sources, model

    def __repr__(self) -> str:
        return f"<wavefield of a shot from {self.sources.tolist()}>"

    def __reduce__(self) -> Any:
        return _no_wavefield, ()


def _no_wavefield() -> None:
    """What copies of gathers have instead of a wavefield, which stays where it is."""
    return None


def checksum(fields: Sequence[Any]) -> int:
    """CRC-32 of a model in host memory; 0 for one in device memory."""
    total = 0
    for one in fields:
        if isinstance(one, np.ndarray):
            total = zlib.crc32(one.reshape(-1).view(np.uint8), total)
    return total


def held_of(wavefield: Any, sources: np.ndarray, model: int) -> Any:
    """The wavefield that gradient() can use."""
    if not isinstance(wavefield, KeptWavefield):
        raise InputError(
            f"wavefield is of type {type(wavefield).__name__} (allowed: Gather.wavefield of a shot with "
            "keep): leave it out"
        )
    for name, same in (
        ("from other sources", np.array_equal(wavefield.sources, sources)),
        ("over another model", wavefield.model == model),
    ):
        if not same:
            raise InputError(f"wavefield: it is of a shot {name} (allowed: of this shot): leave it out")
    return wavefield.held
