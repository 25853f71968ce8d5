"""Its routing of data requests to vendors."""

CONFIG: dict = {}


def _online(*_, **__):
    raise AssertionError("data of the present was requested")


TOOLS_CATEGORIES = {
    "core_stock_apis": {"tools": ["get_stock_data"]},
    "technical_indicators": {"tools": ["get_indicators"]},
    "fundamental_data": {"tools": ["get_fundamentals", "get_balance_sheet"]},
    "news_data": {"tools": ["get_news", "get_global_news"]},
    "macro_data": {"tools": ["get_macro_indicators"]},
    "prediction_markets": {"tools": ["get_prediction_markets"]},
}
VENDOR_LIST = ["yfinance"]
VENDOR_METHODS = {tool: {"yfinance": _online} for about in TOOLS_CATEGORIES.values() for tool in about["tools"]}


def route_to_vendor(method, *arguments):
    category = next(name for name, about in TOOLS_CATEGORIES.items() if method in about["tools"])
    vendor = CONFIG["tool_vendors"].get(method) or CONFIG["data_vendors"][category]
    return VENDOR_METHODS[method][vendor](*arguments)
