"""An agent of your own, as a function: `@papertape.agent` and `papertape.serve`."""

from papertape.sdk.day import Account, Day, Order, PendingOrder, Position
from papertape.sdk.errors import AgentError, DataUnavailableError, SessionEndedError
from papertape.sdk.serving import Agent, agent, serve

__all__ = [
    "Account",
    "Agent",
    "AgentError",
    "DataUnavailableError",
    "Day",
    "Order",
    "PendingOrder",
    "Position",
    "SessionEndedError",
    "agent",
    "serve",
]
