"""A deep agent (deepagents) over MCP: it plans, delegates and trades with the tools of the session's MCP server.

pip install papertape deepagents langchain-openai langchain-mcp-adapters

[external_agents.deep_agent]
command = ["python3", "examples/deep_agent.py"]
models = ["openai::gpt-5-mini"]
"""

import asyncio

import papertape

try:
    from deepagents import create_deep_agent
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_openai import ChatOpenAI
except ImportError as error:
    raise SystemExit(
        f"this example needs deepagents: pip install deepagents langchain-openai langchain-mcp-adapters ({error})"
    ) from error

PROMPT = "You trade {symbols} on {date}. Plan, read what you need, place your orders, then say why."

# One for all days: the libraries keep connections, which belong to the loop that opened them.
LOOP = asyncio.new_event_loop()


@papertape.agent
def decide(day: papertape.Day) -> str:
    return LOOP.run_until_complete(trade(day))


async def trade(day: papertape.Day) -> str:
    lock = asyncio.Lock()

    async def in_order(request, handler):
        # Calls of one turn arrive in the model's order, so a resumed day can repeat them.
        async with lock:
            return await handler(request)

    headers = {"Authorization": f"Bearer {day.token}"}
    server = {"transport": "streamable_http", "url": day.mcp_url, "headers": headers}
    client = MultiServerMCPClient({"papertape": server}, tool_interceptors=[in_order])
    # Without `finish_day`: it ends the token, and the model still has to answer after its last tool call.
    tools = [tool for tool in await client.get_tools() if tool.name != "finish_day"]
    model = ChatOpenAI(model=day.models[0], base_url=day.openai_base_url, api_key=day.token)
    agent = create_deep_agent(model=model, tools=tools, system_prompt="You are a careful trader.")
    prompt = PROMPT.format(symbols=", ".join(day.symbols), date=day.date)
    result = await agent.ainvoke({"messages": [{"role": "user", "content": prompt}]})
    return result["messages"][-1].text


if __name__ == "__main__":
    papertape.serve(decide)
