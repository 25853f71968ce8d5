"""Ratings become orders, with the defaults of Papertape's desks: see docs/desk.md#sizing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from papertape.sdk import Account, Day, Order

Rating = Literal["Buy", "Overweight", "Hold", "Underweight", "Sell"]
RATINGS: tuple[Rating, ...] = ("Buy", "Overweight", "Hold", "Underweight", "Sell")


@dataclass(frozen=True)
class Sizing:
    """How large positions are, as fractions of equity. `weights` are fractions of `symbol_cap`."""

    weights: Mapping[str, float] = field(
        default_factory=lambda: {"Buy": 1.0, "Overweight": 0.6, "Underweight": 0.3, "Sell": 0.0}
    )
    symbol_cap: float = 0.25
    gross_cap: float = 1.0
    cash_reserve: float = 0.02
    min_order: float = 0.001
    # Quantities are multiples of it.
    lot: float = 1.0

    def target(self, rating: str, equity: float, held_value: float) -> float | None:
        """The value that a position should have; `None` for no change."""
        if rating not in self.weights:
            return None
        target = equity * self.symbol_cap * self.weights[rating]
        # An Underweight never raises a position.
        return min(target, held_value) if rating == "Underweight" else target


def closing_orders(
    ratings: Mapping[str, str], account: Account, prices: Mapping[str, float], sizing: Sizing
) -> dict[str, float]:
    """How much of which holding to sell. A target of zero sells everything."""
    orders = {}
    for symbol, rating in ratings.items():
        held = account.quantity(symbol)
        value = held * prices[symbol]
        target = sizing.target(rating, account.equity, value)
        if held <= 0 or target is None or target >= value:
            continue
        quantity = held if target == 0 else _lots((value - target) / prices[symbol], sizing.lot)
        if quantity > 0 and (target == 0 or quantity * prices[symbol] >= sizing.min_order * account.equity):
            orders[symbol] = quantity
    return orders


def opening_orders(
    ratings: Mapping[str, str], account: Account, prices: Mapping[str, float], sizing: Sizing
) -> dict[str, float]:
    """How much of what to buy. If cash or the gross cap does not suffice, all share it pro rata."""
    wanted = {}
    for symbol, rating in ratings.items():
        value = account.quantity(symbol) * prices[symbol]
        target = sizing.target(rating, account.equity, value)
        if target is not None and target > value >= 0:
            wanted[symbol] = target - value
    gross = sum(abs(position.market_value or 0.0) for position in account.positions.values())
    budget = min(account.cash - sizing.cash_reserve * account.equity, sizing.gross_cap * account.equity - gross)
    total = sum(wanted.values())
    share = min(1.0, max(0.0, budget) / total) if total > 0 else 0.0
    orders = {}
    for symbol, value in wanted.items():
        quantity = _lots(value * share / prices[symbol], sizing.lot)
        if quantity > 0 and quantity * prices[symbol] >= sizing.min_order * account.equity:
            orders[symbol] = quantity
    return orders


def trade(day: Day, ratings: Mapping[str, str], prices: Mapping[str, float], sizing: Sizing) -> list[Order]:
    """Places the orders of a day's ratings, closing ones first, and returns their outcomes."""
    placed = []
    for symbol, quantity in closing_orders(ratings, day.account, prices, sizing).items():
        placed.append(day.sell(symbol, quantity, reason=ratings[symbol]))
    # With the cash that the sales brought.
    for symbol, quantity in opening_orders(ratings, day.account, prices, sizing).items():
        placed.append(day.buy(symbol, quantity, reason=ratings[symbol]))
    return placed


def _lots(quantity: float, lot: float) -> float:
    # What is a multiple but for the last bits of a float is one.
    return math.floor(quantity / lot + 1e-9) * lot
