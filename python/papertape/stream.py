"""Server-sent events of a job, over as many connections as it takes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

EventName = Literal["snapshot", "log_entry", "message", "order", "node", "progress", "job", "end", "delta"]

# The server sends a comment every 15 seconds.
SILENCE_SECS = 45.0
MAX_FAILURES = 5


@dataclass(frozen=True)
class Event:
    """An event of a job's stream; see docs/stream.md.

    `cursor` is the position to continue after, `None` for a `delta`: words of a response that is being written.
    """

    name: EventName
    cursor: int | str | None
    data: dict[str, Any]

    @property
    def job(self) -> dict[str, Any]:
        """The job, as it was when the event was read from the database."""
        return dict(self.data.get("job") or {})

    @property
    def event(self) -> dict[str, Any]:
        """What happened."""
        return dict(self.data.get("event") or {})

    @property
    def text(self) -> str:
        """The text of a `delta`."""
        return str(self.event.get("text", ""))


@dataclass
class Parser:
    """Lines of an event stream become events."""

    _fields: dict[str, str] = field(default_factory=dict)

    def feed(self, line: str) -> Event | None:
        if line:
            name, _, value = line.partition(":")
            self._fields[name] = value.removeprefix(" ")
            return None
        fields, self._fields = self._fields, {}
        if "data" not in fields:
            return None
        # A number, or an opaque text if the job is split into parts.
        cursor = fields.get("id")
        at: int | str | None = int(cursor) if cursor is not None and cursor.isdigit() else cursor
        return Event(fields.get("event", "message"), at, json.loads(fields["data"]))  # type: ignore[arg-type]


@dataclass
class Position:
    """Where a reader is, and how often it failed to get further."""

    after: int | str | None
    failures: int = 0
    ended: bool = False

    def read(self, event: Event) -> None:
        self.failures = 0
        if event.cursor is not None:
            self.after = event.cursor
        self.ended = event.name == "end"

    def headers(self) -> dict[str, str]:
        return {} if self.after is None else {"Last-Event-ID": str(self.after)}

    def pause_secs(self) -> float:
        return float(min(self.failures, 5))
