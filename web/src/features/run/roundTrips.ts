// Round trips: from the fill that opens a position to the one that closes it.
import type { LedgerRow } from './ledgerRows'

export interface RoundTrip {
  /** Unique in an agent's run. */
  id: string
  symbol: string
  side: 'long' | 'short'
  opened: LedgerRow
  /** `null`: the position is open. */
  closed: LedgerRow | null
  /** The largest quantity that was held, in units of the last day. */
  quantity: number
  /** The average prices, in units of the last day. */
  entry: number
  exit: number | null
  /** Cash out of the position less cash into it, with fees, slippage, dividends and financing; `null` while it is open. */
  pnl: number | null
  /** The result as a fraction of what was paid, or received for a short position, to open it. */
  return: number | null
  fills: number
}

interface OpenTrip {
  symbol: string
  side: 'long' | 'short'
  opened: LedgerRow
  held: number
  quantity: number
  entryQuantity: number
  entryValue: number
  exitQuantity: number
  exitValue: number
  cash: number
  fills: number
}

/** Below this, a position is closed: quantities are floating-point numbers here. */
const DUST = 1e-9

/**
 * The round trips of an agent, in the order in which they were opened. `rows` are all rows of its ledger, in order. The
 * result of a trip is the sum of the ledger's cash movements on its symbol. A position from before the first row has no
 * known entry and is omitted.
 */
export function roundTrips(rows: LedgerRow[], initialCash: number | null): RoundTrip[] {
  const open = new Map<string, OpenTrip>()
  const found: RoundTrip[] = []
  let cash = initialCash
  for (const row of rows) {
    const { symbol, amount, price, action_type: action, cash_after: cashAfter } = row.position
    const sign = row.buys ? -1 : 1
    // Without the cash before the first row, its fee is unknown.
    const moved = cash === null ? (row.buys === null ? 0 : sign * amount * (price ?? 0)) : cashAfter - cash
    cash = cashAfter
    if (symbol == null) continue
    let trip = open.get(symbol)
    if (row.buys === null) {
      if (!trip) continue
      trip.cash += moved
      if (action === 'split') rescale(trip, Math.abs(amount))
      if (trip.held < DUST) found.push(finish(trip, row, open))
      continue
    }
    const opens = action === 'buy' || action === 'short'
    if (!trip) {
      if (!opens) continue
      trip = { symbol, side: row.buys ? 'long' : 'short', opened: row, held: 0, quantity: 0, entryQuantity: 0, entryValue: 0, exitQuantity: 0, exitValue: 0, cash: 0, fills: 0 }
      open.set(symbol, trip)
    }
    trip.cash += moved
    trip.fills += 1
    if (opens) {
      trip.held += amount
      trip.quantity = Math.max(trip.quantity, trip.held)
      trip.entryQuantity += amount
      trip.entryValue += amount * (price ?? 0)
    } else {
      trip.held -= amount
      trip.exitQuantity += amount
      trip.exitValue += amount * (price ?? 0)
      if (trip.held < DUST) found.push(finish(trip, row, open))
    }
  }
  for (const trip of open.values()) found.push(describe(trip, null))
  return found.sort((a, b) => a.opened.session.date.localeCompare(b.opened.session.date) || a.opened.position.action_id - b.opened.position.action_id)
}

function finish(trip: OpenTrip, row: LedgerRow, open: Map<string, OpenTrip>): RoundTrip {
  open.delete(trip.symbol)
  return describe(trip, row)
}

/** Converts the trip to the units after a split. */
function rescale(trip: OpenTrip, held: number): void {
  const ratio = trip.held > 0 ? held / trip.held : 1
  trip.held = held
  trip.quantity *= ratio
  trip.entryQuantity *= ratio
  trip.exitQuantity *= ratio
}

function describe(trip: OpenTrip, closed: LedgerRow | null): RoundTrip {
  const { symbol, side, opened, quantity, entryQuantity, entryValue, exitQuantity, exitValue, cash, fills } = trip
  return {
    id: `${opened.session.session_id} ${opened.position.action_id} ${symbol}`,
    symbol,
    side,
    opened,
    closed,
    quantity,
    entry: entryQuantity > 0 ? entryValue / entryQuantity : 0,
    exit: exitQuantity > 0 ? exitValue / exitQuantity : null,
    pnl: closed ? cash : null,
    return: closed && entryValue > 0 ? cash / entryValue : null,
    fills,
  }
}
