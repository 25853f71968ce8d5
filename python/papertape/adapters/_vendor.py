"""A data vendor for TradingAgents that reads Papertape's market view: the day's instant bounds every answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from papertape.sdk import AgentError, Day

# TradingAgents' names of indicators, with ours and the key of the answer.
INDICATORS = {
    "macd": ("macd", "macd"),
    "macds": ("macd", "macd_signal"),
    "macdh": ("macd", "macd_histogram"),
    "rsi": ("rsi_14", "rsi_14"),
    "boll": ("bollinger", "bollinger_middle"),
    "boll_ub": ("bollinger", "bollinger_upper"),
    "boll_lb": ("bollinger", "bollinger_lower"),
    "atr": ("atr_14", "atr_14"),
    "vwma": ("vwma_20", "vwma_20"),
    "mfi": ("mfi_14", "mfi_14"),
}
_AVERAGE = re.compile(r"close_(\d+)_(sma|ema)")
MAX_BARS = 250


class Vendor:
    """The functions of a data vendor, named and called as TradingAgents does. They return text for a model."""

    name = "papertape"

    def __init__(self, day: Day) -> None:
        self.day = day
        self._bars: dict[str, list[dict[str, Any]] | AgentError] = {}

    def functions(self) -> dict[str, Callable[..., str]]:
        """By the name of the method in TradingAgents' routing."""
        return {
            "get_stock_data": self.get_stock_data,
            "get_indicators": self.get_indicators,
            "get_fundamentals": self.get_fundamentals,
            "get_balance_sheet": self.get_statement,
            "get_cashflow": self.get_statement,
            "get_income_statement": self.get_statement,
            "get_news": self.get_news,
            "get_global_news": self.get_global_news,
            "get_macro_indicators": self.get_macro_indicators,
        }

    def unavailable(self, what: str) -> str:
        """The answer for what the market view does not have."""
        return f"DATA_UNAVAILABLE: the market view of {self.day.date} has no {what}. Do not estimate or invent it."

    def read(self, tool: str, **arguments: Any) -> dict[str, Any] | str:
        """The answer of a tool, or the sentence that says why there is none."""
        try:
            return self.day.read(tool, **arguments)
        except AgentError as error:
            if error.code in ("session_ended", "limit"):
                raise
            return (
                error.message if error.message.startswith("DATA_UNAVAILABLE") else f"DATA_UNAVAILABLE: {error.message}"
            )

    def bars(self, symbol: str) -> list[dict[str, Any]]:
        """The daily bars that are known, oldest first. Raises `AgentError` if there are none.

        Read once per day: reflections need the bars of a symbol for each decision that has no outcome yet.
        """
        if symbol not in self._bars:
            try:
                self._bars[symbol] = self.day.bars(symbol, limit=MAX_BARS)
            except AgentError as error:
                if error.code in ("session_ended", "limit"):
                    raise
                self._bars[symbol] = error
        found = self._bars[symbol]
        if isinstance(found, AgentError):
            raise found
        return found

    def get_stock_data(self, symbol: str, start_date: str, end_date: str) -> str:
        answer = self.read("get_bars", symbol=symbol, limit=MAX_BARS)
        if isinstance(answer, str):
            return answer
        bars = [bar for bar in answer["bars"] if start_date <= bar["date"] <= end_date]
        if not bars:
            return self.unavailable(f"bar of {symbol} from {start_date} to {end_date}")
        header = f"# {symbol}, daily bars from {start_date} to {end_date}, adjusted for splits\n\n"
        rows = (f"{b['date']},{b['open']},{b['high']},{b['low']},{b['close']},{b['volume']}" for b in bars)
        return header + "Date,Open,High,Low,Close,Volume\n" + "\n".join(rows) + "\n"

    def get_indicators(self, symbol: str, indicator: str, curr_date: str, look_back_days: int = 30) -> str:  # noqa: ARG002
        name = indicator.strip().lower()
        average = _AVERAGE.fullmatch(name)
        ours, key = (f"{average[2]}_{average[1]}",) * 2 if average else INDICATORS.get(name, (name, name))
        answer = self.read("get_indicators", symbol=symbol, indicators=[ours])
        if isinstance(answer, str):
            return answer
        values = answer["indicators"]
        shown = {key: values[key]} if key in values else values
        lines = "\n".join(f"{name}: {'N/A' if value is None else value}" for name, value in shown.items())
        return f"## {indicator} of {symbol} at the close of {answer['as_of']}\n\n{lines}\n"

    def get_fundamentals(self, ticker: str, curr_date: str | None = None) -> str:  # noqa: ARG002
        profile = self.read("get_profile", symbol=ticker)
        name = "" if isinstance(profile, str) else f"Name: {profile['name']}\nCurrency: {profile['currency']}\n\n"
        return name + self.get_statement(ticker)

    def get_statement(self, ticker: str, freq: str = "quarterly", curr_date: str | None = None) -> str:  # noqa: ARG002
        answer = self.read("get_statements", symbol=ticker)
        if isinstance(answer, str):
            return answer
        columns = ("period_end", "metric", "value", "unit", "published_at")
        rows = (",".join(str(figure[name] or "") for name in columns) for figure in answer["figures"])
        header = f"# {ticker}, reported figures as last published\n\nPeriod end,Metric,Value,Unit,Published\n"
        return header + "\n".join(rows) + "\n"

    def get_news(self, ticker: str, start_date: str, end_date: str) -> str:
        return self._news(ticker, start_date, end_date, 50)

    def get_global_news(self, curr_date: str, look_back_days: int | None = None, limit: int | None = None) -> str:
        days = 7 if look_back_days is None else int(look_back_days)
        start = date.fromisoformat(curr_date) - timedelta(days=days)
        return self._news(None, start.isoformat(), curr_date, int(limit or 10))

    def _news(self, symbol: str | None, start_date: str, end_date: str, limit: int) -> str:
        about = {} if symbol is None else {"symbol": symbol}
        answer = self.read("get_news", limit=min(max(limit, 1), 50), **about)
        if isinstance(answer, str):
            return answer
        items = [item for item in answer["items"] if start_date <= item["published_at"][:10] <= end_date]
        if not items:
            return f"No news {f'of {symbol} ' if symbol else ''}from {start_date} to {end_date}."
        return "\n\n".join(
            f"### {item['title']} ({item['source']}, {item['published_at']})\n{item['text'] or ''}".rstrip()
            for item in items
        )

    def get_macro_indicators(self, indicator: str, curr_date: str, look_back_days: int | None = None) -> str:  # noqa: ARG002
        answer = self.read("get_macro", series=indicator)
        if isinstance(answer, str):
            return answer
        rows = (f"{point['period']},{point['value']},{point['unit'] or ''}" for point in answer["points"])
        return f"# {indicator}\n\nPeriod,Value,Unit\n" + "\n".join(rows) + "\n"

    def returns(self, symbol: str, start_date: str, days: int) -> tuple[float, int] | None:
        """The return over up to `days` bars from `start_date` on, of the bars that are known, and how many they are."""
        try:
            closes = [bar["close"] for bar in self.bars(symbol) if bar["date"] >= start_date]
        except AgentError as error:
            if error.code in ("session_ended", "limit"):
                raise
            return None
        if len(closes) <= days:
            return None
        return closes[days] / closes[0] - 1, days
