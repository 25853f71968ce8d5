// Orders of a day: fills with their lineage, and rejections with the numbers that decided.
import { useState } from 'react'
import type { DayResult, LineageMemory, Rejected, Session, Trade } from '@/server/types'
import { conventionsText, feeName } from '@/shared/conventions'
import { fileName } from '@/shared/fileName'
import { signClass, useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { useCode } from '@/shared/i18n/codes'
import { Empty } from '@/shared/ui/states'
import { type Column, SortTable } from '@/shared/ui/table'
import { Financing, Insolvent, PendingOrders, PositionSnapshots } from './AccountView'
import { LineageView } from './LineageView'
import { Numbers } from './Numbers'

interface Props {
  session: Session
  day: DayResult
  market: string | null
  /** The action ID of the fill whose lineage is open. */
  open: string | undefined
  dataset: string
  zone: string | null
  onGo: (path: string) => void
  onMemory: (memory: LineageMemory) => void
}

export function OrdersView(props: Props) {
  const t = useText()
  const { day } = props
  const isQuiet = day.trades.length === 0 && day.rejections.length === 0 && day.pending_orders.length === 0
  return (
    <div className="stack">
      {day.insolvent && <Insolvent end={day.insolvent} market={props.market} />}
      {isQuiet && (
        <Empty title={t('orders.none')}>
          <p className="second">{t('orders.none.why')}</p>
        </Empty>
      )}
      {day.trades.length > 0 && <Fills {...props} />}
      {day.trades.length > 0 && day.conventions && <p className="quiet">{conventionsText(day.conventions, t)}</p>}
      {day.rejections.length > 0 && <Rejections session={props.session} day={day} onGo={props.onGo} />}
      {day.pending_orders.length > 0 && <PendingOrders orders={day.pending_orders} />}
      {day.corporate_actions.length > 0 && <Corporate session={props.session} day={day} market={props.market} />}
      {day.financing.length > 0 && <Financing rows={day.financing} market={props.market} />}
      {day.position_snapshots.length > 0 && <PositionSnapshots rows={day.position_snapshots} market={props.market} />}
    </div>
  )
}

function Fills({ session, day, market, open, dataset, zone, onGo, onMemory }: Props) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  const [expandedId, setExpandedId] = useState<string | null>(open ?? String(day.trades[0]?.action_id ?? ''))
  const isOpen = (trade: Trade) => expandedId === String(trade.action_id)
  const columns: Column<Trade>[] = [
    { id: 'action', label: t('word.action'), sort: (trade) => trade.action_type, cell: (trade) => <span className={`act ${trade.action_type}`}>{word('side', trade.action_type)}</span> },
    { id: 'symbol', label: t('word.symbol'), sort: (trade) => trade.symbol, cell: (trade) => trade.symbol },
    { id: 'quantity', label: t('word.quantity'), num: true, sort: (trade) => trade.quantity, cell: (trade) => format.quantity(trade.quantity) },
    { id: 'price', label: t('word.price'), num: true, sort: (trade) => trade.price, cell: (trade) => format.price(trade.price) },
    {
      id: 'fee',
      label: t('word.fee'),
      num: true,
      sort: (trade) => trade.fee,
      cell: (trade) => <span title={trade.fee_parts.map((part) => `${feeName(part.name, t)} ${format.money(part.amount, market)}`).join('\n')}>{format.money(trade.fee, market)}</span>,
    },
    { id: 'slippage', label: t('word.slippage'), num: true, sort: (trade) => trade.slippage, cell: (trade) => format.money(trade.slippage, market) },
    { id: 'leverage', label: t('orders.leverage'), num: true, sort: (trade) => trade.leverage, cell: (trade) => format.quantity(trade.leverage) },
    { id: 'stop_price', label: t('orders.stop'), num: true, sort: (trade) => trade.stop, cell: (trade) => format.price(trade.stop) },
    { id: 'target_price', label: t('orders.target'), num: true, sort: (trade) => trade.target, cell: (trade) => format.price(trade.target) },
    { id: 'realized_pnl', label: t('word.realised'), num: true, sort: (trade) => trade.realized_pnl, className: (trade) => signClass(trade.realized_pnl), cell: (trade) => format.gain(trade.realized_pnl, market) },
    { id: 'cash_after', label: t('word.cash.after'), num: true, sort: (trade) => trade.cash_after, cell: (trade) => format.money(trade.cash_after, market) },
    {
      id: 'lineage',
      label: t('lineage.title'),
      isControl: true,
      csv: { action_id: (trade) => trade.action_id, order_id: (trade) => trade.order_id },
      num: true,
      cell: (trade) => (
        <button type="button" className="button small plain" aria-expanded={isOpen(trade)} onClick={() => setExpandedId(isOpen(trade) ? null : String(trade.action_id))}>
          {t('lineage.why')}
        </button>
      ),
    },
  ]
  return (
    <SortTable
      label={t('run.fills')}
      name={fileOf('fills', session)}
      columns={columns}
      rows={day.trades}
      rowKey={(trade) => String(trade.action_id)}
      detail={(trade) => isOpen(trade) && <LineageView session={session} trade={trade} market={market} dataset={dataset} zone={zone} onGo={onGo} onMemory={onMemory} />}
    />
  )
}

/** The name of a file of the day. */
function fileOf(what: string, session: Session): string {
  return fileName(what, session.date, session.model)
}

function Rejections({ session, day, onGo }: { session: Session; day: DayResult; onGo: Props['onGo'] }) {
  const t = useText()
  const code = useCode()
  const word = useWord()
  const format = useFormat()
  const columns: Column<Rejected>[] = [
    {
      id: 'order',
      label: t('lineage.order'),
      sort: (one) => one.symbol,
      csv: { order_id: (one) => one.order_id, side: (one) => one.side, quantity: (one) => one.quantity, symbol: (one) => one.symbol },
      className: () => 'top nowrap',
      cell: (one) => `${word('side', one.side)} ${format.quantity(one.quantity)} ${one.symbol}`,
    },
    {
      id: 'reason',
      label: t('orders.reason'),
      sort: (one) => one.code ?? one.status,
      csv: { status: (one) => one.status, code: (one) => one.code, message: (one) => one.message, numbers: (one) => (one.numbers ? JSON.stringify(one.numbers) : null) },
      className: () => 'top',
      cell: (one) => (
        <>
          <b title={one.code ?? one.status}>{one.code ? code('order', one.code) : word('side', one.status)}</b>
          {one.message && <p className="second">{one.message}</p>}
          <Numbers numbers={one.numbers} />
        </>
      ),
    },
    {
      id: 'place',
      label: t('lineage.title'),
      isControl: true,
      csv: null,
      num: true,
      className: () => 'top',
      cell: (one) =>
        one.order?.session_id === session.session_id && (
          <button type="button" className="button small plain" onClick={() => onGo(one.order?.path ?? '')}>
            {t('lineage.show')}
          </button>
        ),
    },
  ]
  return (
    <section aria-label={t('orders.refused')}>
      <h2 className="table-title">{t('orders.refused')}</h2>
      <SortTable label={t('orders.refused')} name={fileOf('rejections', session)} columns={columns} rows={day.rejections} rowKey={(one) => String(one.order_id)} />
    </section>
  )
}

function Corporate({ session, day, market }: { session: Session; day: DayResult; market: string | null }) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  const columns: Column<DayResult['corporate_actions'][number]>[] = [
    { id: 'action', label: t('word.action'), sort: (one) => one.action_type, cell: (one) => word('side', one.action_type) },
    { id: 'symbol', label: t('word.symbol'), sort: (one) => one.symbol, cell: (one) => one.symbol },
    { id: 'quantity', label: t('word.quantity'), num: true, sort: (one) => one.quantity, cell: (one) => format.quantity(one.quantity) },
    { id: 'price', label: t('word.price'), num: true, sort: (one) => one.price, cell: (one) => format.price(one.price) },
    { id: 'ratio', label: t('orders.ratio'), num: true, sort: (one) => one.ratio, cell: (one) => format.quantity(one.ratio) },
    { id: 'cash_after', label: t('word.cash.after'), num: true, sort: (one) => one.cash_after, cell: (one) => format.money(one.cash_after, market) },
  ]
  return (
    <section aria-label={t('orders.corporate')}>
      <h2 className="table-title">{t('orders.corporate')}</h2>
      <SortTable label={t('orders.corporate')} name={fileOf('corporate-actions', session)} columns={columns} rows={day.corporate_actions} rowKey={(one) => String(one.action_id)} />
    </section>
  )
}
