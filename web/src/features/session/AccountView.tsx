// The account entries of a day other than fills: financing, pending orders, positions, insolvency.
import type { DayResult } from '@/server/types'
import { signClass, useFormat } from '@/shared/format'
import { type TextKey, useText, useWord } from '@/shared/i18n'
import { Note } from '@/shared/ui/states'
import { type Column, SortTable } from '@/shared/ui/table'

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
  const columns: Column<Row<'financing'>>[] = [
    { id: 'symbol', label: t('word.symbol'), sort: (one) => one.symbol, cell: (one) => one.symbol },
    { id: 'quantity', label: t('word.quantity'), num: true, sort: (one) => one.quantity, cell: (one) => format.quantity(one.quantity) },
    { id: 'nights', label: t('orders.nights'), num: true, sort: (one) => one.nights, cell: (one) => format.count(one.nights) },
    { id: 'charge', label: t('orders.charge'), num: true, sort: (one) => Number(one.price), csv: { charge: (one) => one.price }, cell: (one) => one.price },
    { id: 'cash_after', label: t('word.cash.after'), num: true, sort: (one) => one.cash_after, cell: (one) => format.money(one.cash_after, market) },
  ]
  return <Entries title={t('orders.financing')} name="financing" columns={columns} rows={rows} rowKey={(one) => String(one.action_id)} />
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
  const columns: Column<Row<'pending_orders'>>[] = [
    {
      id: 'order',
      label: t('lineage.order'),
      sort: (one) => one.symbol,
      csv: { order_id: (one) => one.order_id, side: (one) => one.side, quantity: (one) => one.quantity, symbol: (one) => one.symbol },
      className: () => 'nowrap',
      cell: (one) => `${word('side', one.side)} ${format.quantity(one.quantity)} ${one.symbol}`,
    },
    { id: 'placed_on', label: t('orders.placed'), sort: (one) => one.placed_on, className: () => 'tnum nowrap', cell: (one) => format.day(one.placed_on) },
    {
      id: 'fills_at',
      label: t('orders.fills.at'),
      sort: (one) => one.fills_at,
      cell: (one) => {
        const at = FILLS_AT[one.fills_at ?? '']
        return at ? t(at) : ''
      },
    },
    { id: 'leverage', label: t('orders.leverage'), num: true, sort: (one) => one.leverage, cell: (one) => format.quantity(one.leverage) },
    { id: 'stop_price', label: t('orders.stop'), num: true, sort: (one) => one.stop, cell: (one) => format.price(one.stop) },
    { id: 'target_price', label: t('orders.target'), num: true, sort: (one) => one.target, cell: (one) => format.price(one.target) },
  ]
  return <Entries title={t('orders.pending')} name="pending-orders" columns={columns} rows={orders} rowKey={(one) => String(one.order_id)} />
}

export function PositionSnapshots({ rows, market }: { rows: Row<'position_snapshots'>[]; market: string | null }) {
  const t = useText()
  const format = useFormat()
  const columns: Column<Row<'position_snapshots'>>[] = [
    { id: 'symbol', label: t('word.symbol'), sort: (one) => one.symbol, csv: { position_id: (one) => one.position_id, symbol: (one) => one.symbol }, cell: (one) => one.symbol },
    { id: 'quantity', label: t('word.quantity'), num: true, sort: (one) => one.quantity, cell: (one) => format.quantity(one.quantity) },
    { id: 'mean_price', label: t('orders.average'), num: true, sort: (one) => one.avg_price, cell: (one) => format.price(one.avg_price) },
    { id: 'close_price', label: t('orders.close'), num: true, sort: (one) => one.close, cell: (one) => format.price(one.close) },
    { id: 'unrealized_pnl', label: t('orders.unrealized'), num: true, sort: (one) => one.unrealised_pnl, className: (one) => signClass(one.unrealised_pnl), cell: (one) => format.gain(one.unrealised_pnl, market) },
    { id: 'stop_price', label: t('orders.stop'), num: true, sort: (one) => one.stop, cell: (one) => format.price(one.stop) },
    { id: 'leverage', label: t('orders.leverage'), num: true, sort: (one) => one.leverage, cell: (one) => format.quantity(one.leverage) },
  ]
  return <Entries title={t('orders.positions')} name="positions" columns={columns} rows={rows} rowKey={(one) => String(one.position_id)} />
}

interface EntriesProps<R> {
  title: string
  name: string
  columns: Column<R>[]
  rows: R[]
  rowKey: (row: R) => string
}

function Entries<R>({ title, ...table }: EntriesProps<R>) {
  return (
    <section aria-label={title}>
      <h2 className="table-title">{title}</h2>
      <SortTable label={title} {...table} />
    </section>
  )
}
