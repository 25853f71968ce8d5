// Orders of a day: fills with their lineage, and rejections with the numbers that decided.
import { Fragment, useState } from 'react'
import type { DayResult, Exposure, RecalledBlock, Rejected, Session, Step, Trade } from '@/server/types'
import { conventionsText, feeName } from '@/shared/conventions'
import { signClass, useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { useCode } from '@/shared/i18n/codes'
import { Empty } from '@/shared/ui/states'
import { Financing, Insolvent, PendingOrders, PositionSnapshots } from './AccountView'
import { LineageView } from './LineageView'
import { type Lineage, lineageOf } from './lineage'
import { Numbers } from './Numbers'

interface Props {
  session: Session
  day: DayResult
  steps: Step[]
  exposures: Exposure[]
  recalled: RecalledBlock[]
  market: string | null
  /** The action ID of the fill whose lineage is open. */
  open: string | undefined
  dataset: string
  zone: string | null
  onGo: (path: string) => void
  onMemory: (memory: Lineage['memories'][number]) => void
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
      {day.rejections.length > 0 && <Rejections rejections={day.rejections} onGo={props.onGo} sessionId={day.metadata.session_id} />}
      {day.pending_orders.length > 0 && <PendingOrders orders={day.pending_orders} />}
      {day.corporate_actions.length > 0 && <Corporate day={day} market={props.market} />}
      {day.financing.length > 0 && <Financing rows={day.financing} market={props.market} />}
      {day.position_snapshots.length > 0 && <PositionSnapshots rows={day.position_snapshots} market={props.market} />}
    </div>
  )
}

function Fills({ session, day, steps, exposures, recalled, market, open, dataset, zone, onGo, onMemory }: Props) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  const [expandedId, setExpandedId] = useState<string | null>(open ?? String(day.trades[0]?.action_id ?? ''))
  const lineage = (trade: Trade) => lineageOf(trade, session, day, steps, exposures, recalled)
  return (
    <div className="fills-box">
      <table className="grid-table">
        <thead>
          <tr>
            <th>{t('word.action')}</th>
            <th>{t('word.symbol')}</th>
            <th className="num">{t('word.quantity')}</th>
            <th className="num">{t('word.price')}</th>
            <th className="num">{t('word.fee')}</th>
            <th className="num">{t('word.slippage')}</th>
            <th className="num">{t('orders.leverage')}</th>
            <th className="num">{t('orders.stop')}</th>
            <th className="num">{t('orders.target')}</th>
            <th className="num">{t('word.realised')}</th>
            <th className="num">{t('word.cash.after')}</th>
            <th>
              <span className="hidden-label">{t('lineage.title')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {day.trades.map((trade) => {
            const id = String(trade.action_id)
            const isOpen = expandedId === id
            return (
              <Fragment key={id}>
                <tr>
                  <td>
                    <span className={`act ${trade.action_type}`}>{word('side', trade.action_type)}</span>
                  </td>
                  <td>{trade.symbol}</td>
                  <td className="num">{format.quantity(trade.quantity)}</td>
                  <td className="num">{format.price(trade.price)}</td>
                  <td className="num" title={trade.fee_parts.map((part) => `${feeName(part.name, t)} ${format.money(part.amount, market)}`).join('\n')}>
                    {format.money(trade.fee, market)}
                  </td>
                  <td className="num">{format.money(trade.slippage, market)}</td>
                  <td className="num">{format.quantity(trade.leverage)}</td>
                  <td className="num">{format.price(trade.stop)}</td>
                  <td className="num">{format.price(trade.target)}</td>
                  <td className={`num ${signClass(trade.realized_pnl)}`}>{format.gain(trade.realized_pnl, market)}</td>
                  <td className="num">{format.money(trade.cash_after, market)}</td>
                  <td className="num">
                    <button type="button" className="button small plain" aria-expanded={isOpen} onClick={() => setExpandedId(isOpen ? null : id)}>
                      {t('lineage.why')}
                    </button>
                  </td>
                </tr>
                {isOpen && (
                  <tr className="lineage-row">
                    <td colSpan={12}>
                      <LineageView trade={trade} lineage={lineage(trade)} market={market} dataset={dataset} zone={zone} onGo={onGo} onMemory={onMemory} />
                    </td>
                  </tr>
                )}
              </Fragment>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

function Rejections({ rejections, sessionId, onGo }: { rejections: Rejected[]; sessionId: number; onGo: Props['onGo'] }) {
  const t = useText()
  const code = useCode()
  const word = useWord()
  const format = useFormat()
  return (
    <section className="scroll-x" aria-label={t('orders.refused')}>
      <h3 className="table-title">{t('orders.refused')}</h3>
      <table className="grid-table">
        <thead>
          <tr>
            <th>{t('lineage.order')}</th>
            <th>{t('orders.reason')}</th>
            <th>
              <span className="hidden-label">{t('lineage.title')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rejections.map((one) => (
            <tr key={one.order_id}>
              <td className="top nowrap">
                {word('side', one.side)} {format.quantity(one.quantity)} {one.symbol}
              </td>
              <td className="top">
                <b title={one.code ?? one.status}>{one.code ? code('order', one.code) : word('side', one.status)}</b>
                {one.message && <p className="second">{one.message}</p>}
                <Numbers numbers={one.numbers} />
              </td>
              <td className="top num">
                {one.order && one.order.session_id === sessionId && (
                  <button type="button" className="button small plain" onClick={() => onGo(one.order?.path ?? '')}>
                    {t('lineage.show')}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Corporate({ day, market }: { day: DayResult; market: string | null }) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  return (
    <section className="scroll-x" aria-label={t('orders.corporate')}>
      <h3 className="table-title">{t('orders.corporate')}</h3>
      <table className="grid-table">
        <thead>
          <tr>
            <th>{t('word.action')}</th>
            <th>{t('word.symbol')}</th>
            <th className="num">{t('word.quantity')}</th>
            <th className="num">{t('word.price')}</th>
            <th className="num">{t('orders.ratio')}</th>
            <th className="num">{t('word.cash.after')}</th>
          </tr>
        </thead>
        <tbody>
          {day.corporate_actions.map((one) => (
            <tr key={one.action_id}>
              <td>{word('side', one.action_type)}</td>
              <td>{one.symbol}</td>
              <td className="num">{format.quantity(one.quantity)}</td>
              <td className="num">{format.price(one.price)}</td>
              <td className="num">{format.quantity(one.ratio)}</td>
              <td className="num">{format.money(one.cash_after, market)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
