"""What can go wrong, by who says so. Messages are the program's own sentences."""

from __future__ import annotations


class PapertapeError(Exception):
    """The base of every error of this package."""


class BinaryNotFoundError(PapertapeError):
    """The program `papertape` is not installed."""


class UnavailableError(PapertapeError):
    """The server cannot be reached, or a stream stays broken."""


class BundleError(PapertapeError):
    """The bundle does not verify, or does not contain what is requested."""


class RejectedError(PapertapeError):
    """The program or the server rejected a request.

    `code` is the error's name for programs, such as `invalid_input`; `message` is the sentence for people.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class ApiError(RejectedError):
    """The server's response to an invalid, forbidden or failed request. `status` is the HTTP status."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(code, message)
        self.status = status

    def __str__(self) -> str:
        return f"{self.status} {self.code}: {self.message}"


class CommandError(RejectedError):
    """A command of the program failed. `exit_code` is its exit code: 2 is a usage error."""

    def __init__(self, exit_code: int, code: str, message: str) -> None:
        super().__init__(code, message)
        self.exit_code = exit_code

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class NotFoundError(RejectedError):
    """There is no such job, session, day or database."""


class UnauthorizedError(ApiError):
    """The token is missing, unknown or read-only."""


class ApiNotFoundError(ApiError, NotFoundError):
    """404 from the server."""


class CommandNotFoundError(CommandError, NotFoundError):
    """Exit code 4 from the program."""


def api_error(status: int, code: str, message: str) -> ApiError:
    """The error for a response of the server."""
    if status == 404:
        return ApiNotFoundError(status, code, message)
    if status in (401, 403):
        return UnauthorizedError(status, code, message)
    return ApiError(status, code, message)


def command_error(exit_code: int, code: str, message: str) -> CommandError:
    """The error for an exit code of the program."""
    return (CommandNotFoundError if exit_code == 4 else CommandError)(exit_code, code, message)
