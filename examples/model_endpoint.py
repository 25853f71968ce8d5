"""Lets a model decide, through the session's own endpoint: calls are recorded, paid from the budget and replayed.

    [external_agents.model_endpoint]
    command = ["python3", "examples/model_endpoint.py"]
    models = ["openai::gpt-5-mini"]

Any client of OpenAI's API works the same: `OpenAI(base_url=day.openai_base_url, api_key=day.token)`.
"""

import papertape


@papertape.agent
def decide(day: papertape.Day) -> str:
    said = []
    for symbol in day.symbols:
        closes = [f"{close:.2f}" for close in day.closes(symbol, 10)]
        prompt = f"Closes of {symbol}: {', '.join(closes)}. Answer with one word: BUY, SELL or HOLD."
        words = day.chat(prompt).upper().split()
        answer = next((word.strip(".*") for word in words if word.strip(".*") in ("BUY", "SELL", "HOLD")), "UNREADABLE")
        held = day.account.quantity(symbol)
        if answer == "BUY" and not held:
            day.buy(symbol, int(day.account.cash / (2 * day.price(symbol))) or 1)
        elif answer == "SELL" and held:
            day.sell(symbol, held)
        said.append(f"{symbol}: {answer}")
    return ", ".join(said)


if __name__ == "__main__":
    papertape.serve(decide)
