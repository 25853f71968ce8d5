"""How requests of a session reach Papertape: lines on pipes, or HTTP."""

from __future__ import annotations

import json
import os
import sys
import threading
from decimal import Decimal
from io import BufferedIOBase, TextIOWrapper
from typing import Any, Protocol

import httpx

from papertape.sdk.errors import AgentError, SessionEndedError

Message = dict[str, Any]

# The limit of a line until a day names its own.
MAX_LINE_BYTES = 4 * 1024 * 1024


def encode(message: Message) -> bytes:
    """A message in one line. Decimals become texts, so that nothing is rounded."""

    def plain(value: object) -> object:
        if isinstance(value, Decimal):
            return str(value)
        # Numbers of numpy and the like.
        if hasattr(value, "item"):
            return value.item()
        raise TypeError(f"{type(value).__name__} is not JSON")

    return json.dumps(message, ensure_ascii=False, allow_nan=False, default=plain).encode()


class Channel(Protocol):
    """Sends a request of a session and returns its `reply`."""

    def request(self, message: Message) -> Message:
        """Raises `SessionEndedError` if the session is over instead."""


class Pipes:
    """The channel of a started process: one JSON object per line."""

    def __init__(self, reader: BufferedIOBase, writer: BufferedIOBase) -> None:
        self._reader = reader
        self._writer = writer
        self._lock = threading.Lock()
        self._ended = False
        self.max_line_bytes = MAX_LINE_BYTES

    @classmethod
    def of_process(cls) -> Pipes:
        """Takes stdin and stdout for the protocol.

        From now on whatever prints goes to stderr, also from libraries and child processes, and nothing else can read
        from stdin.
        """
        sys.stdout.flush()
        reader, writer = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        # Line by line, so that prints come in order with what else is on stderr.
        sys.stdout = TextIOWrapper(os.fdopen(os.dup(1), "wb"), encoding="utf-8", errors="replace", line_buffering=True)
        return cls(os.fdopen(reader, "rb"), os.fdopen(writer, "wb"))

    def next_day(self) -> Message | None:
        """The next `day`; `None` at the end of the input."""
        while (message := self._read()) is not None:
            # The end of the previous session, if its agent did not wait for it.
            if message.get("type") == "day":
                self._ended = False
                self.max_line_bytes = int((message.get("limits") or {}).get("max_line_bytes") or MAX_LINE_BYTES)
                return message
        return None

    def request(self, message: Message) -> Message:
        line = encode(message) + b"\n"
        if len(line) > self.max_line_bytes:
            raise AgentError("limit", f"the message has {len(line)} bytes; at most {self.max_line_bytes} are allowed")
        with self._lock:
            if self._ended:
                raise SessionEndedError("stopped")
            try:
                self._writer.write(line)
                self._writer.flush()
            except BrokenPipeError:
                self._ended = True
                raise SessionEndedError("stopped") from None
            while (reply := self._read()) is not None:
                if reply.get("type") == "end":
                    self._ended = True
                    raise SessionEndedError(str(reply.get("reason", "stopped")))
                if reply.get("type") == "reply" and reply.get("id") == message["id"]:
                    return reply
            self._ended = True
            raise SessionEndedError("stopped")

    def finished(self) -> None:
        """The session has been answered: nothing more may be sent until the next day."""
        self._ended = True

    def _read(self) -> Message | None:
        line = self._reader.readline()
        if not line:
            return None
        message = json.loads(line)
        if not isinstance(message, dict):
            raise TypeError(f"expected an object on stdin, not {line[:80]!r}")
        return message


class Http:
    """The channel of an agent with a URL: requests to `doors.session_url`."""

    def __init__(self, session_url: str, token: str, timeout_secs: float) -> None:
        self._url = session_url
        # Not through a proxy: the URL is one of Papertape's own machine.
        self._client = httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=timeout_secs, trust_env=False)

    def request(self, message: Message) -> Message:
        try:
            response = self._client.post(
                self._url, content=encode(message), headers={"Content-Type": "application/json"}
            )
        except httpx.TransportError as error:
            raise AgentError("unavailable", f"{self._url} cannot be reached: {error}") from error
        if response.status_code == 401:
            raise SessionEndedError("stopped")
        if response.status_code == 413:
            raise AgentError("limit", "the message is larger than the session allows")
        if not response.is_success:
            raise AgentError("unavailable", f"{self._url} responds with {response.status_code}")
        reply = response.json()
        if reply.get("type") == "end":
            raise SessionEndedError(str(reply.get("reason", "stopped")))
        return dict(reply)

    def close(self) -> None:
        self._client.close()
