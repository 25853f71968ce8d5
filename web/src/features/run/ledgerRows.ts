import type { Position, Session } from '@/server/types'

/** A row of the ledger, with its session. */
export interface LedgerRow {
  session: Session
  position: Position
  /** Whether it buys; `null` if nothing is traded, as for a dividend or a split. */
  buys: boolean | null
}

/**
 * The ledger rows that change a position or cash, in order. A stop, target or liquidation has no side of its own: it is
 * the opposite of the position.
 */
export function ledgerRows(sessions: Session[]): LedgerRow[] {
  const positions = new Map<string, number>()
  return sessions
    .flatMap((session) => session.positions.filter((position) => position.action_type !== 'no_trade').map((position) => ({ session, position })))
    .sort((a, b) => a.session.date.localeCompare(b.session.date) || a.session.session_id - b.session.session_id || a.position.action_id - b.position.action_id)
    .map((row) => {
      const key = `${row.session.model} ${row.position.symbol ?? ''}`
      const before = positions.get(key) ?? 0
      const buys = isBuy(row.position.action_type, before)
      if (row.position.action_type === 'split') positions.set(key, Math.sign(before) * Math.abs(row.position.amount))
      else if (buys !== null) positions.set(key, before + (buys ? row.position.amount : -row.position.amount))
      return { ...row, buys }
    })
}

function isBuy(action: string, positions: number): boolean | null {
  switch (action) {
    case 'buy':
    case 'cover':
      return true
    case 'sell':
    case 'short':
      return false
    case 'stop':
    case 'target':
    case 'liquidation':
    case 'delisting':
      return positions < 0
    default:
      return null
  }
}
