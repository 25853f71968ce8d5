"""What a session answers instead of a result."""

from __future__ import annotations

from papertape.errors import PapertapeError


class AgentError(PapertapeError):
    """A request of the agent was not carried out.

    `code` is `bad_json`, `unknown_type`, `bad_message`, `unknown_tool`, `bad_arguments`, `limit` or `session_ended`;
    `expected` lists what would have been accepted.
    """

    def __init__(self, code: str, message: str, expected: list[str] | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.expected = expected or []


class DataUnavailableError(AgentError):
    """The dataset does not have this, or did not have it yet on this day."""


class SessionEndedError(AgentError):
    """The session is over. `reason` is `completed`, `deadline` or `stopped`."""

    def __init__(self, reason: str) -> None:
        super().__init__("session_ended", f"the session is over: {reason}")
        self.reason = reason
