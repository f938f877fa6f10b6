# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions of moho. Each one is also the built-in exception that Python programs expect."""


class Error(RuntimeError):
    """Base class of all exceptions that moho raises deliberately."""


class InputError(Error, ValueError):
    """An argument is invalid. The text names it, the value, the allowed values and what to do."""


class FileError(Error, OSError):
    """A file is missing, unreadable, of the wrong kind or not writable."""


class OutOfMemoryError(Error, MemoryError):
    """A computation needs more memory than is free or allowed."""


class NotFiniteError(Error, ArithmeticError):
    """A wavefield overflowed or holds a value that is not a number."""
