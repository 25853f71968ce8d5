// The decision of a session, and the orders that it led to. No React.
import type { DayResult, Message } from '@/server/types'
import { type NodeTable, placeOf } from './desk'

/**
 * The message that holds the decision: the last one of the desk's deciding role on the instrument, or the last words of
 * a single agent. Messages after the close, which write memories, are not decisions.
 */
export function decisionOf(table: NodeTable, messages: Message[], symbol: string | null): Message | null {
  return (
    messages.findLast((message) => {
      if (message.role !== 'assistant' || message.content.trim() === '') return false
      const place = placeOf(message.path)
      const rule = table.of(place.name)
      if (!rule?.decides) return false
      return symbol === null ? rule.llm == null : rule.llm != null && (place.symbol === symbol || place.symbol === null)
    }) ?? null
  )
}

export interface PlacedOrder {
  state: 'filled' | 'rejected' | 'pending'
  /** The fill's action ID, or the order's. */
  id: string
  side: string
  symbol: string
  quantity: number
  /** Of a fill. */
  price: number | null
  /** Why it was rejected. */
  code: string | null
  /** The step that placed it, if it is one of this session. */
  path: string | null
  /** The call that placed it. */
  message: Message | null
}

/** A day's fills, then its rejected and its pending orders. */
export function ordersOf(day: DayResult, messages: Message[]): PlacedOrder[] {
  const byPath = new Map(messages.filter((message) => message.role === 'tool').map((message) => [message.path, message]))
  const placed = (order: { session_id: number; path: string } | null | undefined) => {
    const path = order?.session_id === day.metadata.session_id ? order.path : null
    return { path, message: path === null ? null : (byPath.get(path) ?? null) }
  }
  return [
    ...day.trades.map((trade): PlacedOrder => ({ state: 'filled', id: String(trade.action_id), side: trade.action_type, symbol: trade.symbol, quantity: trade.quantity, price: trade.price, code: null, ...placed(trade.order) })),
    ...day.rejections.map((one): PlacedOrder => ({ state: 'rejected', id: one.order_id, side: one.side, symbol: one.symbol, quantity: one.quantity, price: null, code: one.code ?? null, ...placed(one.order) })),
    ...day.pending_orders.map((one): PlacedOrder => ({ state: 'pending', id: one.order_id, side: one.side, symbol: one.symbol, quantity: one.quantity, price: null, code: null, path: null, message: null })),
  ]
}
