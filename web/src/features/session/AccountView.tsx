// The account entries of a day other than fills: financing, pending orders, positions, insolvency.
import type { DayResult } from '@/server/types'
import { signClass, useFormat } from '@/shared/format'
import { type TextKey, useText, useWord } from '@/shared/i18n'
import { Note } from '@/shared/ui/states'

type Row<K extends 'financing' | 'pending_orders' | 'position_snapshots'> = DayResult[K][number]

/** The account is insolvent; trading has stopped. */
export function Insolvent({ end, market }: { end: NonNullable<DayResult['insolvent']>; market: string | null }) {
  const t = useText()
  const format = useFormat()
  return (
    <Note kind="bad">
      <b>{t('orders.insolvent', { since: format.day(end.since) })}</b>{' '}
      {t('orders.insolvent.what', { loss: format.money(end.loss, market), owed: format.money(end.owed, market) })}
    </Note>
  )
}

export function Financing({ rows, market }: { rows: Row<'financing'>[]; market: string | null }) {
  const t = useText()
  const format = useFormat()
  return (
    <section className="scroll-x" aria-label={t('orders.financing')}>
      <h3 className="table-title">{t('orders.financing')}</h3>
      <table className="grid-table">
        <thead>
          <tr>
            <th>{t('word.symbol')}</th>
            <th className="num">{t('word.quantity')}</th>
            <th className="num">{t('orders.nights')}</th>
            <th className="num">{t('orders.charge')}</th>
            <th className="num">{t('word.cash.after')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((one) => (
            <tr key={one.action_id}>
              <td>{one.symbol}</td>
              <td className="num">{format.quantity(one.quantity)}</td>
              <td className="num">{format.count(one.nights)}</td>
              <td className="num">{one.price}</td>
              <td className="num">{format.money(one.cash_after, market)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const FILLS_AT: Record<string, TextKey> = {
  open: 'orders.fills.open',
  next_open: 'orders.fills.next_open',
  close: 'orders.fills.close',
}

export function PendingOrders({ orders }: { orders: Row<'pending_orders'>[] }) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  return (
    <section className="scroll-x" aria-label={t('orders.pending')}>
      <h3 className="table-title">{t('orders.pending')}</h3>
      <table className="grid-table">
        <thead>
          <tr>
            <th>{t('lineage.order')}</th>
            <th>{t('orders.placed')}</th>
            <th>{t('orders.fills.at')}</th>
            <th className="num">{t('orders.leverage')}</th>
            <th className="num">{t('orders.stop')}</th>
            <th className="num">{t('orders.target')}</th>
          </tr>
        </thead>
        <tbody>
          {orders.map((one) => {
            const at = FILLS_AT[one.fills_at ?? '']
            return (
              <tr key={one.order_id}>
                <td className="nowrap">
                  {word('side', one.side)} {format.quantity(one.quantity)} {one.symbol}
                </td>
                <td className="tnum nowrap">{format.day(one.placed_on)}</td>
                <td>{at ? t(at) : ''}</td>
                <td className="num">{format.quantity(one.leverage)}</td>
                <td className="num">{format.price(one.stop)}</td>
                <td className="num">{format.price(one.target)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </section>
  )
}

export function PositionSnapshots({ rows, market }: { rows: Row<'position_snapshots'>[]; market: string | null }) {
  const t = useText()
  const format = useFormat()
  return (
    <section className="scroll-x" aria-label={t('orders.positions')}>
      <h3 className="table-title">{t('orders.positions')}</h3>
      <table className="grid-table">
        <thead>
          <tr>
            <th>{t('word.symbol')}</th>
            <th className="num">{t('word.quantity')}</th>
            <th className="num">{t('orders.average')}</th>
            <th className="num">{t('orders.close')}</th>
            <th className="num">{t('orders.unrealized')}</th>
            <th className="num">{t('orders.stop')}</th>
            <th className="num">{t('orders.leverage')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((one) => (
            <tr key={one.position_id}>
              <td>{one.symbol}</td>
              <td className="num">{format.quantity(one.quantity)}</td>
              <td className="num">{format.price(one.avg_price)}</td>
              <td className="num">{format.price(one.close)}</td>
              <td className={`num ${signClass(one.unrealised_pnl)}`}>{format.gain(one.unrealised_pnl, market)}</td>
              <td className="num">{format.price(one.stop)}</td>
              <td className="num">{format.quantity(one.leverage)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
