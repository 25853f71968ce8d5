"""The protocol without the SDK: JSON lines on stdin and stdout. Every language can do this.

[external_agents.plain_stdio]
command = ["python3", "examples/plain_stdio.py"]
"""

import json
import sys


def request(number, message):
    print(json.dumps({**message, "id": number}), flush=True)
    reply = json.loads(sys.stdin.readline())
    if reply["type"] == "end":
        raise EOFError
    return reply


for line in sys.stdin:
    day = json.loads(line)
    if day["type"] != "day":
        continue  # the `end` of the previous day
    held = {position["symbol"] for position in day["account"]["positions"]}
    try:
        for number, symbol in enumerate(day["symbols"]):
            answer = request(f"price-{number}", {"type": "read", "tool": "get_price", "arguments": {"symbol": symbol}})
            if answer["ok"] and symbol not in held:
                order = {"type": "order", "side": "buy", "symbol": symbol, "quantity": 1}
                placed = request(f"order-{number}", order)
                print(symbol, placed.get("result") or placed["error"]["message"], file=sys.stderr)
        request("done", {"type": "done", "decision": "one of each", "state": {"seen": day["date"]}})
    except EOFError:
        pass  # the session ended early, for example at its deadline
