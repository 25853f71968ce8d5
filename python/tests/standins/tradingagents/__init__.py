"""A stand-in with the interfaces of TradingAgents that the adapter uses, and none of its code."""
