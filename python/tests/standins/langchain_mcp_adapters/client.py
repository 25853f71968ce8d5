"""A stand-in for langchain-mcp-adapters: the tools of MCP servers."""

import asyncio
import json
from types import SimpleNamespace

import httpx


class Tool:
    def __init__(self, server, name, interceptors):
        self.server, self.name, self.interceptors = server, name, interceptors

    async def ainvoke(self, arguments):
        async def handler(request):
            # What is called first arrives last.
            await asyncio.sleep(0.2 if request.args["symbol"] == "AAPL" else 0)
            params = {"name": request.name, "arguments": request.args}
            result = await asyncio.to_thread(call, self.server, "tools/call", params)
            # As the MCP client does after the first call of a connection, which fails if the session has ended.
            await asyncio.to_thread(call, self.server, "tools/list", {})
            return result

        (interceptor,) = self.interceptors
        return await interceptor(SimpleNamespace(name=self.name, args=arguments), handler)


def call(server, method, params):
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    response = httpx.post(server["url"], json=body, headers=server["headers"], trust_env=False)
    return json.loads(response.raise_for_status().text)["result"]


class MultiServerMCPClient:
    def __init__(self, servers, tool_interceptors):
        self.servers, self.interceptors = servers, tool_interceptors

    async def get_tools(self):
        tools = []
        for server in self.servers.values():
            assert server["transport"] == "streamable_http"
            listed = call(server, "tools/list", {})["tools"]
            tools += [Tool(server, tool["name"], self.interceptors) for tool in listed]
        return tools
