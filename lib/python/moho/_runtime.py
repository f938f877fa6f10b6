# SPDX-License-Identifier: BSD-3-Clause
"""The compiled module: loaded with the first computation, ended with the interpreter."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
from typing import Any, Iterator, Optional

from ._arrays import shown
from ._errors import Error, InputError
from ._processor import load_core

_module: Any = None
_lock = threading.Lock()
_forked = False
_threads = 0
_sharing = (1, 1)  # processes of the machine, and of the device


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
                _core.set_memory_sharing(*_sharing)
                atexit.register(_core.finish)
                _module = _core
    return _module


def _check_count(name: str, value: Any, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        what = name.replace("_", " ")
        raise InputError(f"{name} is {shown(value)} (allowed: 1 to {most}): give the number of {what}")


def configure(
    *,
    threads: Optional[int] = None,
    processes: Optional[int] = None,
    processes_of_device: Optional[int] = None,
) -> None:
    """Sets the number of threads of all computations, and the number of processes that share memory.

    Without `threads` the variables MOHO_NUM_THREADS and OMP_NUM_THREADS apply, in this order, and then the
    number of processors that the process may use. Without `processes` each process plans with all free
    memory.

    Parameters
    ----------
    threads : int, optional
        Number of threads, 1 to 512; to be set before the first computation.
    processes : int, optional
        Processes that compute on this machine at the same time, this one included, 1 to 65536: ranks of
        mpi4py on it, or workers of a pool. Where no argument limits the memory, plans that are made from
        now on take that part of what is free.
    processes_of_device : int, optional
        Of these, processes that use the same device, 1 to `processes`. Default: `processes`.

    Raises
    ------
    InputError
        A number is out of range, or `threads` is given and something has been computed already.
    """
    global _threads, _sharing
    if threads is not None:
        _check_count("threads", threads, 512)
    if processes is not None:
        _check_count("processes", processes, 65536)
    if processes_of_device is not None:
        _check_count("processes_of_device", processes_of_device, processes or 1)
    if threads is not None:
        if _module is not None:
            _module.set_threads(threads)
        _threads = threads
    if processes is not None:
        _sharing = (processes, processes_of_device or processes)
        if _module is not None:
            _module.set_memory_sharing(*_sharing)


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
