"""Buys above the 20-day mean and sells below it. An agent with the SDK: `pip install papertape`.

[external_agents.moving_average]
command = ["python3", "examples/moving_average.py"]
"""

import papertape


@papertape.agent
def decide(day: papertape.Day) -> str:
    cash = day.account.equity / len(day.symbols)
    for symbol in day.symbols:
        closes, price, held = day.closes(symbol, 20), day.price(symbol), day.account.quantity(symbol)
        mean = sum(closes) / len(closes)
        if price > mean and not held:
            day.buy(symbol, int(0.98 * cash / price), reason=f"{price} is above the mean {mean:.2f}")
        elif price < mean and held:
            day.sell(symbol, held, reason=f"{price} is below the mean {mean:.2f}")
    day.state["days"] = day.state.get("days", 0) + 1
    return f"day {day.state['days']}: {day.account.cash:.2f} in cash"


if __name__ == "__main__":
    papertape.serve(decide)
