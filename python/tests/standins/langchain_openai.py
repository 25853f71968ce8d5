"""A stand-in for langchain-openai: a model that is called over HTTP."""

import asyncio

import httpx


class ChatOpenAI:
    # Connections are shared by all models of a process, and belong to the loop that opened them.
    loop = None

    def __init__(self, *, model, base_url, api_key):
        self.model, self.base_url, self.api_key = model, base_url, api_key

    async def ainvoke(self, messages):
        loop = asyncio.get_running_loop()
        if (ChatOpenAI.loop or loop) is not loop:
            raise RuntimeError("Event loop is closed")
        ChatOpenAI.loop = loop
        return await asyncio.to_thread(self.call, messages)

    def call(self, messages):
        headers = {"Authorization": f"Bearer {self.api_key}"}
        body = {"model": self.model, "messages": messages}
        response = httpx.post(f"{self.base_url}/chat/completions", json=body, headers=headers, trust_env=False)
        return response.raise_for_status().json()["choices"][0]["message"]["content"]
