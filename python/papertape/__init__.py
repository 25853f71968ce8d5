"""Papertape: paper-trade LLM agents over market days, and keep everything on a durable tape.

    import papertape

    result = papertape.run(demo=True, progress=True)
    print(result.equity_df().tail())

`run` runs a job, `Client` and `AsyncClient` are the API of a server, `sessions_df` and its like read results, and
`agent` and `serve` make an agent of your own out of a function. See docs/python.md.
"""

from importlib.metadata import PackageNotFoundError, version

from papertape.binary import find_binary
from papertape.client import AsyncClient, Client, follow
from papertape.errors import (
    ApiError,
    BinaryNotFoundError,
    BundleError,
    CommandError,
    NotFoundError,
    PapertapeError,
    RejectedError,
    UnauthorizedError,
    UnavailableError,
)
from papertape.frames import compare_df, equity_df, messages_df, orders_df, sessions_df
from papertape.running import Result, run
from papertape.sdk import (
    Account,
    Agent,
    AgentError,
    DataUnavailableError,
    Day,
    Order,
    PendingOrder,
    Position,
    SessionEndedError,
    agent,
    serve,
)
from papertape.sources import Bundle, DataDirectory, Server
from papertape.sources import open_source as open  # noqa: A004 - read as `papertape.open`
from papertape.stream import Event

try:
    __version__ = version("papertape")
except PackageNotFoundError:
    # Imported from the repository, without an installation.
    __version__ = "0"


__all__ = [
    "Account",
    "Agent",
    "AgentError",
    "ApiError",
    "AsyncClient",
    "BinaryNotFoundError",
    "Bundle",
    "BundleError",
    "Client",
    "CommandError",
    "DataDirectory",
    "DataUnavailableError",
    "Day",
    "Event",
    "NotFoundError",
    "Order",
    "PapertapeError",
    "PendingOrder",
    "Position",
    "RejectedError",
    "Result",
    "Server",
    "SessionEndedError",
    "UnauthorizedError",
    "UnavailableError",
    "__version__",
    "agent",
    "compare_df",
    "equity_df",
    "find_binary",
    "follow",
    "messages_df",
    "open",
    "orders_df",
    "run",
    "serve",
    "sessions_df",
]
