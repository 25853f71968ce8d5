"""Serving an agent: on stdin and stdout of a started process, or over HTTP."""

from __future__ import annotations

import hmac
import json
import os
import sys
import traceback
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from papertape.sdk.channel import MAX_LINE_BYTES, Http, Message, Pipes
from papertape.sdk.day import Day
from papertape.sdk.errors import SessionEndedError

Function = Callable[[Day], "str | None"]


class Agent:
    """A function that trades a day. It can be called like the function itself."""

    def __init__(self, function: Function, name: str | None = None) -> None:
        self.function = function
        self.name = name or getattr(function, "__name__", type(function).__name__)
        self.__doc__ = function.__doc__

    def __repr__(self) -> str:
        return f"Agent({self.name!r})"

    def __call__(self, day: Day) -> str | None:
        return self.function(day)

    def trade(self, day: Day) -> None:
        """Runs a day to its end. A session that ends early, at its deadline for example, is not an error."""
        try:
            decision = self.function(day)
            day.done(decision)
        except SessionEndedError as error:
            # After `done`, by the agent's own hand, there is nothing to report.
            if not day.finished:
                sys.stderr.write(f"{self.name}, {day.date}: {error.message}\n")


def agent(function: Function) -> Agent:
    """Makes an agent out of a function of a `Day`. What it returns is the decision in words.

    @papertape.agent
    def decide(day):
        if day.price("AAPL") > 100:
            day.buy("AAPL", 10)

    papertape.serve(decide)
    """
    return Agent(function)


def serve(agent: Agent | Function, *, http: str | None = None, key_env: str | None = None) -> None:
    """Serves an agent until there are no more days.

    Without `http` it speaks on stdin and stdout, as `external_agents.NAME.command` expects; what the agent prints goes
    to stderr. With `http`, such as `127.0.0.1:8900`, it listens for `external_agents.NAME.url`; `key_env` names the
    variable with the key that Papertape sends. An error in the agent ends the process, or is a response with status
    500.
    """
    served = agent if isinstance(agent, Agent) else Agent(agent)
    if http is not None:
        host, _, port = http.rpartition(":")
        with http_server(
            served, host or "127.0.0.1", int(port), key=os.environ[key_env] if key_env else None
        ) as server:
            sys.stderr.write(f"{served.name} listens on http://{host}:{server.server_port}/day\n")
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                return
        return
    pipes = Pipes.of_process()
    while (message := pipes.next_day()) is not None:
        served.trade(Day(message, pipes))
        pipes.finished()


def http_server(agent: Agent, host: str, port: int, *, key: str | None = None) -> ThreadingHTTPServer:
    """A server for an agent; a session per request, several at a time."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            if key is not None and not hmac.compare_digest(
                self.headers.get("Authorization", "").encode(), f"Bearer {key}".encode()
            ):
                self.respond(401, "the key is missing or wrong")
                return
            size = int(self.headers.get("Content-Length") or 0)
            if size > MAX_LINE_BYTES:
                self.respond(413, "the day is too large")
                return
            try:
                message = json.loads(self.rfile.read(size))
                day, channel = _day_over_http(message)
            except (ValueError, KeyError, TypeError) as error:
                self.respond(400, f"the body is not a day: {error}")
                return
            try:
                agent.trade(day)
            except Exception as error:  # noqa: BLE001 - whatever the agent raises is for the log and for Papertape
                traceback.print_exc()
                self.respond(500, f"{type(error).__name__}: {error}")
            else:
                self.respond(200, None)
            finally:
                channel.close()

        def respond(self, status: int, problem: str | None) -> None:
            body = json.dumps({"ok": True} if problem is None else {"error": problem}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named by the standard library
            pass

    return ThreadingHTTPServer((host, port), Handler)


def _day_over_http(message: Message) -> tuple[Day, Http]:
    doors = message.get("doors")
    if not doors:
        raise ValueError("`doors` is missing, and with it where requests go")
    timeout_secs = float((message.get("limits") or {}).get("session_secs", 1800))
    channel = Http(doors["session_url"], doors["token"], timeout_secs)
    return Day(message, channel), channel
