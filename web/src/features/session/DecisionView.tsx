// What the agent decided, and its orders, before everything else.
import { useQuery } from '@tanstack/react-query'
import { sessionHead } from '@/server/sessions'
import { argumentOf, conversationEnd, cutsOf } from '@/server/recorded'
import type { DayResult, Message } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { useCode } from '@/shared/i18n/codes'
import { CopyButton } from '@/shared/ui/copy'
import { Tag } from '@/shared/ui/parts'
import { qualityOf } from '@/shared/ui/quality'
import { Empty, Loading } from '@/shared/ui/states'
import { MessageText } from '@/transcript/MessageText'
import { decisionOf, ordersOf, type PlacedOrder } from './decision'
import type { Reading } from './useReading'
import css from './session.module.css'

export function DecisionView({ reading }: { reading: Reading }) {
  const t = useText()
  const { conversation, day, session } = reading
  const head = useQuery({ ...sessionHead(session.session_id), enabled: session.status === 'completed' })
  const message = decisionOf(reading.table, session.conversation ?? [], reading.desk.isDesk ? reading.desk.symbol : null)
  const isUndecided = qualityOf(day?.provenance.data_quality)?.state === 'no_decision'
  if (conversation.isPending) return <Loading rows={8} />
  return (
    <div className={`panel-body ${css.decision}`}>
      <div className={css.words}>
        {head.data && head.data.decisions.length > 0 && <Ratings head={head.data} reading={reading} />}
        {isUndecided && <Tag kind="warn">{t('quality.undecided')}</Tag>}
        {message ? <Words message={message} reading={reading} /> : <Empty title={reading.running ? t('reading.undecided.yet') : t('quality.undecided')} />}
        {day && <Ended day={day} />}
      </div>
      <div className="stack">{day ? <Outcome day={day} reading={reading} /> : <p className="second">{t('session.open')}</p>}</div>
    </div>
  )
}

function Ratings({ head, reading: { desk, go } }: { head: { decisions: { symbol: string; rating?: string | null; action?: string | null; recommendation?: string | null }[] }; reading: Reading }) {
  const t = useText()
  return (
    <div className={`row wrap ${css.ratings}`} role="group" aria-label={t('session.decisions')}>
      {head.decisions.map((one) => (
        <button key={one.symbol} type="button" className="button small" aria-pressed={one.symbol === desk.symbol} title={t('session.decisions.why', { action: one.action ?? '–', recommendation: one.recommendation ?? '–' })} onClick={() => go({ symbol: one.symbol, node: undefined, view: 'decision' })}>
          {one.symbol} <b>{one.rating ?? t('session.undecided')}</b>
        </button>
      ))}
    </div>
  )
}

function Words({ message, reading }: { message: Message; reading: Reading }) {
  const t = useText()
  const word = useWord()
  return (
    <article aria-label={t('reading.words')}>
      <header className="row wrap">
        <h2>{t('reading.words')}</h2>
        <button type="button" className="link-button mono quiet" onClick={() => reading.goTo(message.path)}>
          {reading.desk.isDesk ? word('node', message.node.replace(/#\d+$/, '').replace(/^.*\//, '')) : message.path}
        </button>
        <CopyButton text={message.content} describes={t('reading.copy')} />
      </header>
      <MessageText text={message.content} />
    </article>
  )
}

/** How the conversation ended, if it did not end as it should. */
function Ended({ day }: { day: DayResult }) {
  const t = useText()
  const word = useWord()
  const end = conversationEnd(day)?.end
  if (end == null) return null
  return (
    <p className="quiet">
      {t('provenance.end')}: {word('provenance', end)}
    </p>
  )
}

function Outcome({ day, reading }: { day: DayResult; reading: Reading }) {
  const t = useText()
  const format = useFormat()
  const code = useCode()
  const { session, market, desk } = reading
  const orders = ordersOf(day, session.conversation ?? []).filter((order) => !desk.isDesk || order.symbol === desk.symbol)
  const cuts = cutsOf(day).filter((cut) => cut.symbol === desk.symbol)
  const after = day.final_position
  return (
    <>
      <h2>{t('reading.outcome')}</h2>
      {orders.length === 0 ? <p className="second">{t('orders.none')}</p> : orders.map((order) => <Order key={`${order.state} ${order.id}`} order={order} reading={reading} />)}
      {cuts.map((cut) => (
        <p key={cut.code + cut.message} className="second" title={cut.message}>
          {t('reading.cut')} {code('cut', cut.code)}
        </p>
      ))}
      {after && (
        <p className="tnum">
          {t('reading.after', { value: format.money(after.portfolio_value, market), cash: format.money(after.cash, market) })}
          {after.holdings.length > 0 && `: ${after.holdings.map((one) => `${format.quantity(one.quantity)} ${one.symbol}`).join(', ')}`}
        </p>
      )}
    </>
  )
}

function Order({ order, reading }: { order: PlacedOrder; reading: Reading }) {
  const t = useText()
  const word = useWord()
  const code = useCode()
  const format = useFormat()
  const reason = order.message && argumentOf(order.message.tool_input, 'reason')
  return (
    <div className={css.order} data-state={order.state}>
      <div className="row wrap">
        <b>
          {word('side', order.side)} {format.quantity(order.quantity)} {order.symbol}
        </b>
        {order.price !== null && <span className="tnum">@ {format.price(order.price)}</span>}
        <Tag kind={order.state === 'rejected' ? 'warn' : undefined} title={order.code ?? undefined}>
          {order.state === 'rejected' ? (order.code ? code('order', order.code) : t('decision.refused')) : t(order.state === 'filled' ? 'lineage.fill' : 'orders.pending')}
        </Tag>
        {order.state === 'filled' && (
          <button type="button" className="link-button" onClick={() => reading.go({ view: 'orders', order: order.id })}>
            {t('lineage.why')}
          </button>
        )}
        {order.path && (
          <button type="button" className="link-button mono quiet" onClick={() => reading.goTo(order.path ?? '')}>
            {order.path}
          </button>
        )}
      </div>
      {reason && <p className="second">{reason}</p>}
    </div>
  )
}
