"""The keys of its configuration."""

DEFAULT_CONFIG = {
    "llm_provider": "openai",
    "backend_url": None,
    "deep_think_llm": "deep",
    "quick_think_llm": "quick",
    "max_debate_rounds": 1,
    "max_risk_discuss_rounds": 1,
    "output_language": "English",
    "results_dir": "never-written",
    "data_cache_dir": "never-written",
    "memory_log_path": "never-written",
    "checkpoint_enabled": True,
    "benchmark_ticker": None,
    "data_vendors": {"core_stock_apis": "yfinance", "news_data": "yfinance", "prediction_markets": "polymarket"},
    "tool_vendors": {"get_news": "alpha_vantage"},
}
