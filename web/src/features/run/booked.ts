import type { Position, Session } from '@/server/types'

/** A row of the books, with its session. */
export interface Row {
  session: Session
  position: Position
}

/** The rows of the books that move a position or the cash, in the order in which they were booked. */
export function booked(sessions: Session[]): Row[] {
  return sessions
    .flatMap((session) => session.positions.filter((position) => position.action_type !== 'no_trade').map((position) => ({ session, position })))
    .sort((a, b) => a.session.date.localeCompare(b.session.date) || a.session.session_id - b.session.session_id || a.position.action_id - b.position.action_id)
}
