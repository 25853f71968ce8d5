"""A stand-in for LangGraph's ReAct agent: buys two symbols in one turn, and ends with what its model says."""

import asyncio
from types import SimpleNamespace


class Agent:
    def __init__(self, model, tools):
        self.model, self.tools = model, {tool.name: tool for tool in tools}

    async def ainvoke(self, state):
        symbols = ("AAPL", "IBM")
        await asyncio.gather(*(self.tools["buy"].ainvoke({"symbol": symbol, "quantity": 1}) for symbol in symbols))
        # As LangGraph does: the model is called again after its tools.
        said = await self.model.ainvoke(state["messages"])
        return {"messages": [*state["messages"], SimpleNamespace(text=said)]}


def create_agent(model, tools):
    return Agent(model, tools)
