"""A client of Papertape's API, of the standard library alone.

Copy it, or run it against a server to see it at work:

    python3 papertape_client.py http://127.0.0.1:8080
"""

from __future__ import annotations

import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any

STOPPED = {"completed", "partial", "failed", "cancelled"}


class PapertapeError(Exception):
    """The server refused: `status` is the HTTP status, `code` the error's name for programs."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code


class Papertape:
    """The API of the server at `url`."""

    def __init__(self, url: str, timeout_secs: float = 30.0) -> None:
        self.url = url.rstrip("/")
        self.timeout_secs = timeout_secs

    def request(
        self,
        method: str,
        path: str,
        query: dict[str, Any] | None = None,
        body: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Sends one request. What is None in `query` is left out."""
        given = {key: value for key, value in (query or {}).items() if value is not None}
        url = self.url + path + ("?" + urllib.parse.urlencode(given) if given else "")
        request = urllib.request.Request(url, method=method, headers={"Accept": "application/json"})
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=self.timeout_secs) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            refusal = json.load(error)
            raise PapertapeError(error.code, refusal["error"], refusal["message"]) from None

    def trigger(self, end_date: str, **wanted: Any) -> dict[str, Any]:
        """Queues a simulation; see POST /simulate/trigger for what can be wanted."""
        return self.request("POST", "/simulate/trigger", body={"end_date": end_date, **wanted})

    def status(self, job_id: str) -> dict[str, Any]:
        """How far a job is."""
        return self.request("GET", f"/simulate/status/{urllib.parse.quote(job_id, safe='')}")

    def wait(self, job_id: str, every_secs: float = 1.0) -> dict[str, Any]:
        """Asks for a job's status until it has stopped."""
        while True:
            status = self.status(job_id)
            if status["status"] in STOPPED:
                return status
            time.sleep(every_secs)

    def results(self, **query: Any) -> dict[str, Any]:
        """Results of trading: of a `date`, or of a range."""
        return self.request("GET", "/results", query)

    def sessions(self, include_full_conversation: bool = False, **query: Any) -> Iterator[dict[str, Any]]:
        """What agents said and did, session by session, page after page."""
        query["include_full_conversation"] = str(include_full_conversation).lower()
        cursor = None
        while True:
            page = self.request("GET", "/reasoning", {**query, "cursor": cursor})
            yield from page["sessions"]
            cursor = page["next_cursor"]
            if cursor is None:
                return


def main(url: str) -> int:
    """Runs a week of two house models, and prints what came of it."""
    papertape = Papertape(url)
    queued = papertape.trigger(
        start_date="2012-10-01",
        end_date="2012-10-05",
        models=["house::momentum", "house::buy_and_hold"],
        symbols=["AAPL", "IBM"],
        initial_cash=10000,
        replace_existing=True,
    )
    print(f"job {queued['job_id']}: {queued['message']}")
    for warning in queued["warnings"]:
        print(f"warning: {warning}")

    status = papertape.wait(queued["job_id"], every_secs=0.2)
    progress = status["progress"]
    print(f"{status['status']}: {progress['completed']} of {progress['total_model_days']} model-days")

    for result in papertape.results(job_id=queued["job_id"])["results"]:
        metrics, baselines = result["period_metrics"], result["baselines"]
        print(
            f"{result['model']}: {result['ending_portfolio_value']:.2f}, "
            f"return {metrics['total_return']:+.2%}, drawdown {metrics['max_drawdown']:.2%}; "
            f"buy and hold {baselines['buy_and_hold']['period_metrics']['total_return']:+.2%}"
        )

    for session in papertape.sessions(job_id=queued["job_id"], model="house::momentum", limit=2):
        print(f"{session['date']} {session['session_summary']}")
        for position in session["positions"]:
            if position["action_type"] != "no_trade":
                print(f"  {position['action_type']} {position['amount']:g} {position['symbol']} at {position['price']}")

    try:
        papertape.results(date="yesterday")
    except PapertapeError as error:
        print(f"refused: {error}")
    return 0 if status["status"] == "completed" else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"))
