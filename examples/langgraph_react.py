"""A ReAct agent of LangGraph: its model is the session's endpoint, its tools are those of the session's MCP server.

pip install papertape langchain langchain-openai langchain-mcp-adapters

[external_agents.langgraph]
command = ["python3", "examples/langgraph_react.py"]
models = ["openai::gpt-5-mini"]
"""

import asyncio

import papertape

try:
    from langchain.agents import create_agent
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_openai import ChatOpenAI
except ImportError as error:
    raise SystemExit(
        f"this example needs LangGraph: pip install langchain langchain-openai langchain-mcp-adapters ({error})"
    ) from error

PROMPT = "You trade {symbols} on {date}. Read prices, place the orders that you find right, then say why."

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
    agent = create_agent(model, tools)
    prompt = PROMPT.format(symbols=", ".join(day.symbols), date=day.date)
    result = await agent.ainvoke({"messages": [{"role": "user", "content": prompt}]})
    return result["messages"][-1].text


if __name__ == "__main__":
    papertape.serve(decide)
