import type { Position, Session } from '@/server/types'

/** A row of the books, with its session. */
export interface Row {
  session: Session
  position: Position
  /** Did it buy? `null`: it traded nothing, as a dividend or a split. */
  buys: boolean | null
}

/**
 * The rows of the books that move a position or the cash, in the order in which they were booked. A stop, a
 * target or a liquidation says no side: it is against what was held.
 */
export function booked(sessions: Session[]): Row[] {
  const held = new Map<string, number>()
  return sessions
    .flatMap((session) => session.positions.filter((position) => position.action_type !== 'no_trade').map((position) => ({ session, position })))
    .sort((a, b) => a.session.date.localeCompare(b.session.date) || a.session.session_id - b.session.session_id || a.position.action_id - b.position.action_id)
    .map((row) => {
      const key = `${row.session.model} ${row.position.symbol ?? ''}`
      const before = held.get(key) ?? 0
      const buys = isBuy(row.position.action_type, before)
      if (row.position.action_type === 'split') held.set(key, Math.sign(before) * Math.abs(row.position.amount))
      else if (buys !== null) held.set(key, before + (buys ? row.position.amount : -row.position.amount))
      return { ...row, buys }
    })
}

function isBuy(action: string, held: number): boolean | null {
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
      return held < 0
    default:
      return null
  }
}
