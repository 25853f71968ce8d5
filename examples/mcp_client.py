"""Trades through the session's MCP server: reads, orders and the end of the day are tools there.

    [external_agents.mcp_client]
    command = ["python3", "examples/mcp_client.py"]

Every MCP client works the same, with `day.mcp_url` and the header `Authorization: Bearer {day.token}`.
"""

import itertools
import json

import httpx

import papertape


class Mcp:
    """As much of an MCP client as this takes: JSON-RPC by POST, answers as JSON or as an event stream."""

    def __init__(self, url: str, token: str) -> None:
        accept = "application/json, text/event-stream"
        headers = {"Authorization": f"Bearer {token}", "Accept": accept}
        self.http = httpx.Client(headers=headers, timeout=60, trust_env=False)
        self.url, self.ids = url, itertools.count(1)
        client = {"name": "example", "version": "1"}
        self.send("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self.http.headers["MCP-Protocol-Version"] = "2025-06-18"
        self.http.post(self.url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}).raise_for_status()

    def send(self, method, **params):
        body = {"jsonrpc": "2.0", "id": next(self.ids), "method": method, "params": params}
        response = self.http.post(self.url, json=body).raise_for_status()
        if "mcp-session-id" in response.headers:
            self.http.headers["Mcp-Session-Id"] = response.headers["mcp-session-id"]
        text = response.text
        if response.headers["content-type"].startswith("text/event-stream"):
            data = [line.partition(":")[2] for line in text.splitlines() if line.startswith("data:")]
            text = next(line for line in data if '"id"' in line)
        return json.loads(text)["result"]

    def call(self, name, **arguments):
        result = self.send("tools/call", name=name, arguments=arguments)
        return json.loads(result["content"][0]["text"])


@papertape.agent
def decide(day: papertape.Day) -> None:
    mcp = Mcp(day.mcp_url, day.token)
    names = {tool["name"] for tool in mcp.send("tools/list")["tools"]}
    assert {"get_price", "get_portfolio", "buy", "finish_day"} <= names
    symbol = day.symbols[0]
    if not mcp.call("get_portfolio")["positions"]:
        mcp.call(
            "buy", symbol=symbol, quantity=1, reason=f"{symbol} at {mcp.call('get_price', symbol=symbol)['price']}"
        )
    mcp.call("finish_day", decision=f"holds one {symbol}")
    mcp.http.close()


if __name__ == "__main__":
    papertape.serve(decide)
