"""A stand-in for deepagents."""

from langchain.agents import Agent


def create_deep_agent(*, model, tools, system_prompt):
    assert system_prompt
    return Agent(model, tools)
