"""Follows a job of Papertape as it goes on, with the standard library alone.

Copy `follow`, or run it:

    python3 follow_job.py http://127.0.0.1:8080 JOB

A connection that breaks is opened again behind the last event that was read. `--break-every N` breaks it by
itself after every N events, to show that none is lost or told twice. A token is taken from PAPERTAPE_TOKEN.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any


def events(url: str, job: str, after: int | str | None, token: str | None) -> Iterator[dict[str, Any]]:
    """The events of one connection: `name`, `id` and `data`. None at all: the job's end has been told.

    A `delta`, words of an answer that is being written, has the id None: it is kept nowhere.
    """
    request = urllib.request.Request(f"{url}/jobs/{job}/stream")
    if after is not None:
        request.add_header("Last-Event-ID", str(after))
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    # The server says every 15 seconds that it is there.
    with urllib.request.urlopen(request, timeout=45) as response:
        fields: dict[str, str] = {}
        for raw in response:
            line = raw.decode().rstrip("\r\n")
            if line:
                name, _, value = line.partition(":")
                fields[name] = value.removeprefix(" ")
            else:
                if "data" in fields:
                    # A number, or an opaque text if the job is split into parts.
                    text = fields.get("id")
                    at = int(text) if text is not None and text.isdigit() else text
                    yield {"name": fields["event"], "id": at, "data": json.loads(fields["data"])}
                fields = {}


def follow(
    url: str, job: str, after: int | str | None = None, token: str | None = None, break_every: int = 0
) -> Iterator[dict[str, Any]]:
    """The job's events up to its end, over as many connections as that takes. `after` 0: from the first one."""
    failures = 0
    while True:
        count = 0
        try:
            for event in events(url, job, after, token):
                failures = 0
                if event["id"] is not None:
                    after = event["id"]
                yield event
                if event["name"] == "end":
                    return
                count += 1
                if count == break_every:
                    break
            if count == 0:
                failures += 1
        except urllib.error.HTTPError as refusal:
            # It will not be otherwise the next time: no such job, no token, an event that is not there.
            if refusal.code < 500 and refusal.code != 429:
                raise
            failures += 1
        except (OSError, http.client.HTTPException):
            failures += 1
        if failures > 5:
            raise ConnectionError(f"{url} does not answer")
        time.sleep(min(failures, 5))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("job")
    parser.add_argument("--break-every", type=int, default=0)
    given = parser.parse_args()
    token = os.environ.get("PAPERTAPE_TOKEN")
    for event in follow(given.url.rstrip("/"), given.job, 0, token, given.break_every):
        if event["id"] is None:
            continue
        print(f"{event['id']} {event['name']} {json.dumps(event['data']['event'], sort_keys=True, ensure_ascii=False)}")


if __name__ == "__main__":
    main()
