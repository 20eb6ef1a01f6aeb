"""Errors of the memory package.

MemoryError_
  LogError        the event log cannot be opened, read or written
    LogLocked     another process is writing this run
    LogDamaged    a stored event does not match its checksum
  EventError      an event or block cannot be read back
  ContextError    no valid request can be made of this context
    WindowExceeded  what must be sent does not fit the model's window
  TodoError       a plan or a text of todo.md is not usable as given
"""


class MemoryError_(Exception):
    """Root of this package's errors (the underscore keeps Python's own MemoryError apart)."""


class LogError(MemoryError_):
    """The event log cannot be opened, read or written."""


class LogLocked(LogError):
    """Another live process is writing this run's log."""


class LogDamaged(LogError):
    """A stored event does not match its checksum; the message names its position."""


class EventError(MemoryError_):
    """An event or a block cannot be read back from its stored form."""


class ContextError(MemoryError_):
    """No valid request can be made of this context."""


class WindowExceeded(ContextError):
    """What must be sent does not fit the model's window; the message holds both numbers."""


class TodoError(MemoryError_):
    """A plan or a text of todo.md is not usable as given; the message says what to correct."""
