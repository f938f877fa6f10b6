# SPDX-License-Identifier: BSD-3-Clause
"""The compiled module: loaded with the first computation, ended with the interpreter."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
from typing import Any, Iterator

from ._arrays import shown
from ._errors import Error, InputError
from ._processor import load_core

_module: Any = None
_lock = threading.Lock()
_forked = False
_threads = 0


class OfThisProcess:
    """Base of objects whose memory belongs to this process: pickle and copy refuse them."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            f"moho.{type(self).__name__} cannot be pickled or copied (its memory belongs to this process): "
            "make another one of the same arguments"
        )


def _after_fork() -> None:
    global _forked
    _forked = _module is not None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _asked_threads() -> int:
    """Number of threads of configure() or MOHO_NUM_THREADS; 0 without them."""
    text = os.environ.get("MOHO_NUM_THREADS", "")
    if _threads or not text:
        return _threads
    if not text.isdigit() or not 1 <= int(text) <= 512:
        raise InputError(f"MOHO_NUM_THREADS is '{text}' (allowed: 1 to 512): give the number of threads")
    return int(text)


@contextlib.contextmanager
def _short_spinning() -> Iterator[None]:
    """Lets idle threads of OpenMP spin for microseconds and then sleep, as in the programs.

    By default GCC's OpenMP lets them spin for milliseconds, which blocks other threads of the process. It
    reads the variable when it is loaded; one that another module has loaded keeps its policy.
    """
    if "GOMP_SPINCOUNT" in os.environ or "OMP_WAIT_POLICY" in os.environ:
        yield
        return
    os.environ["GOMP_SPINCOUNT"] = "1000"
    try:
        yield
    finally:
        os.environ.pop("GOMP_SPINCOUNT", None)


def core() -> Any:
    """Returns the compiled module. Kokkos starts with its first computation."""
    global _module
    if _forked:
        raise Error(
            "moho: this process was forked after a computation, and has no threads of it (allowed: "
            "processes that are spawned): use multiprocessing.get_context('spawn'), or 'forkserver'"
        )
    if _module is None:
        with _lock:
            if _module is None:
                with _short_spinning():
                    _core = load_core()
                _core.set_threads(_asked_threads())
                atexit.register(_core.finish)
                _module = _core
    return _module


def configure(*, threads: int) -> None:
    """Sets the number of threads of all computations; to be called before the first one.

    Without it the variables MOHO_NUM_THREADS and OMP_NUM_THREADS apply, in this order, and then the number
    of processors that the process may use.

    Parameters
    ----------
    threads : int
        Number of threads, 1 to 512.

    Raises
    ------
    InputError
        The number is out of range, or something has been computed already.
    """
    global _threads
    if not isinstance(threads, int) or not 1 <= threads <= 512:
        raise InputError(f"threads is {shown(threads)} (allowed: 1 to 512): give the number of threads")
    if _module is not None:
        _module.set_threads(threads)
    _threads = threads


def build() -> dict[str, str | int]:
    """Describes the build, and starts Kokkos.

    Returns
    -------
    dict
        "version" of moho, "kokkos" and "compiler" with their versions, "spaces" of the argument `space`,
        "vector_bits" of the host's kernels (128, 256 for AVX2, 512 for AVX-512), and "threads", the number
        of threads that execute a loop.
    """
    module = core()
    return {
        "version": module.version,
        "kokkos": module.kokkos,
        "compiler": module.compiler,
        "spaces": "host, cuda" if module.has_device else "host",
        "vector_bits": module.vector_bits,
        "threads": module.count_threads(),
    }
