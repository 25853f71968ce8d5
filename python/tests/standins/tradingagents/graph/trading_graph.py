"""Its graph: `propagate` reads data, calls a model, keeps a memory log, and returns a state and a rating."""

import json
import os
import socket
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tradingagents.agents.analysts import sentiment_analyst
from tradingagents.dataflows import interface, stockstats_utils


class CompiledGraph:
    """As much of LangGraph as this takes: the tool calls of one turn run on threads, by default all at once."""

    def __init__(self, config=None):
        self.config = config or {}

    def with_config(self, config):
        return CompiledGraph(self.config | config)

    def call_tools(self, calls):
        def call(number):
            time.sleep(0.05 * (len(calls) - number))
            return calls[number]()

        with ThreadPoolExecutor(self.config.get("max_concurrency")) as executor:
            return list(executor.map(call, range(len(calls))))


class TradingAgentsGraph:
    def __init__(self, selected_analysts=("market",), debug=False, config=None):
        self.config = config
        self.analysts = selected_analysts
        self.graph = CompiledGraph()
        interface.CONFIG = config
        Path(config["results_dir"]).mkdir(parents=True, exist_ok=True)

    def _fetch_returns(self, ticker, trade_date, holding_days=5, benchmark="SPY"):
        raise AssertionError("returns of the present were requested")

    def _ask(self, model, prompt):
        print("asking", model)
        request = urllib.request.Request(
            self.config["backend_url"] + "/chat/completions",
            json.dumps({"model": model, "messages": [{"role": "user", "content": prompt}]}).encode(),
            {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as response:
            return json.load(response)["choices"][0]["message"]["content"]

    def propagate(self, company_name, trade_date, asset_type="stock"):
        memory = Path(self.config["memory_log_path"])
        past = memory.read_text() if memory.is_file() else ""
        route = interface.route_to_vendor
        stock, rsi, average = self.graph.call_tools([
            lambda: route("get_stock_data", company_name, "2025-02-20", trade_date),
            lambda: route("get_indicators", company_name, "rsi", trade_date, 30),
            lambda: route("get_indicators", company_name, "close_50_sma", trade_date, 30),
        ])  # fmt: skip
        data = {
            "stock": stock,
            "rsi": rsi,
            "average": average,
            "fundamentals": route("get_fundamentals", company_name, trade_date),
            "news": route("get_news", company_name, "2025-02-20", trade_date),
            "world": route("get_global_news", trade_date, 7, 5),
            "macro": route("get_macro_indicators", "cpi", trade_date, 90),
            "markets": route("get_prediction_markets", "rates", 5),
            "posts": sentiment_analyst.fetch_reddit_posts(company_name),
            "frame": stockstats_utils.load_ohlcv(company_name, trade_date).to_csv(index=False),
            "identity": self.resolve_instrument_context(company_name),
            "returns": self._fetch_returns(company_name, "2025-02-20", benchmark="IBM"),
            "unknown": [
                self._fetch_returns(company_name, day, benchmark="SPY") for day in ("2025-02-20", "2025-02-21")
            ],
            "config": {key: self.config[key] for key in ("output_language", "max_debate_rounds", "checkpoint_enabled")},
            "past": past,
        }
        try:
            socket.create_connection(("192.0.2.1", 80), timeout=0.1)
            data["network"] = "open"
        except PermissionError as error:
            data["network"] = str(error)
        report = self._ask(self.config["quick_think_llm"], f"report on {company_name}")
        decision = self._ask(self.config["deep_think_llm"], f"decide on {company_name}")
        memory.write_text(
            past + f"[{trade_date} | {company_name} | pending]\n\nDECISION:\n{decision}\n\n<!-- ENTRY_END -->\n\n"
        )
        state = {
            "market_report": json.dumps(data),
            "sentiment_report": report,
            "investment_debate_state": {
                "bull_history": "It rises.",
                "bear_history": "It falls.",
                "judge_decision": "A plan.",
            },
            "trader_investment_plan": "A proposal.",
            "risk_debate_state": {"risky_history": "More.", "safe_history": "Less.", "neutral_history": "Some."},
            "final_trade_decision": decision,
        }
        return state, "Hold"
