"""Exceptions. All are subclasses of `Error`."""

from collections.abc import Iterable

from ._reports import Finding


class Error(Exception):
    """An operation failed.

    Attributes
    ----------
    message : str
        A sentence that names the file and the problem.
    findings : list of Finding
        The problems in the input, if there are any.
    """

    def __init__(self, message: str, findings: Iterable[Finding] = ()) -> None:
        super().__init__(message, tuple(findings))
        self.message = message
        self.findings = list(findings)

    def __str__(self) -> str:
        return self.message


class Damaged(Error):
    """An archive or an array is damaged, or its content is not what the manifest lists."""


class NotAPack(Error):
    """A file is not a pack."""


class NotAnArray(Error):
    """A file is not an array."""


class NotFound(Error, KeyError):
    """A pack has no array or file of this name."""


class Mismatch(Error, ValueError):
    """A value differs from what the operation needs, such as the number of dimensions."""


class Unsupported(Error):
    """The operation is not supported. The message gives the reason and an alternative."""


class InvalidOption(Unsupported, ValueError):
    """An option is not possible, or contradicts another one or the input."""


class WrongTarget(Unsupported):
    """The operation is for another kind of file. The message says what the file is, and what is needed."""


class TooLarge(Error):
    """A limit was exceeded."""


class Refused(Error):
    """Problems in the input prevent the operation. `findings` lists all of them."""


class Changed(Error):
    """A source file changed while it was read."""


class Interrupted(Error):
    """The operation was cancelled."""


class IoError(Error, OSError):
    """A file cannot be read or written. `errno` and `filename` are those of `OSError`."""

    def __init__(self, number: int, message: str, filename: str) -> None:
        OSError.__init__(self, number, message, filename)
        self.message = message
        self.findings = []


class NoSuchFile(IoError, FileNotFoundError):
    """A file does not exist."""


class NoPermission(IoError, PermissionError):
    """A file may not be read or written."""


class AlreadyExists(IoError, FileExistsError):
    """The target exists and may not be replaced. Use `force=True` to replace it."""
