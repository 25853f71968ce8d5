// What each agent decided on one day, side by side.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { dayResult } from '@/server/queries'
import { sessionHead } from '@/server/sessions'
import type { ComparedItem, DecisionText } from '@/server/types'
import { signClass, useFormat } from '@/shared/format'
import { textOr, useText, useWord } from '@/shared/i18n'
import { useCode } from '@/shared/i18n/codes'
import { ExportMenu } from '@/shared/ui/exportMenu'
import { Icon } from '@/shared/ui/icons'
import { HouseTag, Tag } from '@/shared/ui/parts'
import { UnverifiedTag } from '@/shared/ui/pointInTime'
import { Books, QualityTag, qualityOf } from '@/shared/ui/quality'
import { Failed, Loading } from '@/shared/ui/states'
import { JsonView, parseJson } from '@/transcript/JsonView'
import { RichText } from '@/transcript/RichText'
import css from './compare.module.css'
import { daysOf } from './select'

interface Props {
  items: ComparedItem[]
  day: string | undefined
  onDay: (date: string) => void
}

export function DayView({ items, day, onDay }: Props) {
  const t = useText()
  const format = useFormat()
  const client = useQueryClient()
  const days = useMemo(() => daysOf(items), [items])
  const agents = items.filter((item) => item.kind === 'agent' && item.job_ids.length > 0)
  const index = day !== undefined && days.includes(day) ? days.indexOf(day) : days.length - 1
  const date = days[index]
  if (date === undefined || agents.length === 0) return null
  /** The fills, rejections and pending orders of all agents. */
  const csv = async () => {
    const found = await Promise.all(agents.map(async (item) => ({ ...item, result: await client.fetchQuery(dayResult(item.job_ids[0] ?? '', date, item.agent ?? '')) })))
    const rows = found.flatMap(({ result, agent, job_ids: jobs }) => {
      const fills = (result?.trades ?? []).map((trade) => [jobs[0], agent, date, 'filled', trade.action_type, trade.symbol, trade.quantity, trade.price, trade.fee, trade.slippage, trade.realized_pnl, null])
      const rejections = (result?.rejections ?? []).map((one) => [jobs[0], agent, date, one.status, one.side, one.symbol, one.quantity, null, null, null, null, one.code])
      const pending = (result?.pending_orders ?? []).map((one) => [jobs[0], agent, date, 'pending', one.side, one.symbol, one.quantity, null, null, null, null, one.fills_at])
      return [...fills, ...rejections, ...pending]
    })
    return { columns: ['job_id', 'agent', 'date', 'outcome', 'action', 'symbol', 'quantity', 'price', 'fee', 'slippage', 'realized_pnl', 'reason'], rows }
  }
  const to = (next: number) => {
    const target = days[next]
    if (target !== undefined) onDay(target)
  }
  return (
    <section className="panel" aria-label={t('compare.day')}>
      <div className="panel-head">
        <h2>{t('compare.day')}</h2>
        <button type="button" className="button small" disabled={index <= 0} aria-label={t('keys.previous')} onClick={() => to(index - 1)}>
          <Icon name="left" />
        </button>
        <select className="select short" aria-label={t('word.day')} value={date} onChange={(event) => onDay(event.target.value)}>
          {days.map((one) => (
            <option key={one} value={one}>
              {format.day(one)}
            </option>
          ))}
        </select>
        <button type="button" className="button small" disabled={index >= days.length - 1} aria-label={t('keys.next')} onClick={() => to(index + 1)}>
          <Icon name="right" />
        </button>
        <span className="second grow">{t('compare.day.what')}</span>
        <ExportMenu what={t('compare.day')} name={`comparison-orders-${date}`} csv={csv} />
      </div>
      <div className={css.days}>
        {agents.map((item) => (
          <AgentDay key={`${item.id} ${date}`} item={item} date={date} />
        ))}
      </div>
    </section>
  )
}

function AgentDay({ item, date }: { item: ComparedItem; date: string }) {
  const t = useText()
  const word = useWord()
  const code = useCode()
  const format = useFormat()
  const [jobId = ''] = item.job_ids
  const model = item.agent ?? ''
  const query = useQuery(dayResult(jobId, date, model))
  const day = query.data
  const head = useQuery({ ...sessionHead(day?.metadata.session_id ?? 0), enabled: day != null })
  const change = day?.daily_metrics.return_pct
  return (
    <article className={css.agentDay} aria-label={item.label}>
      <header className="row wrap">
        <Link to="/app/runs/$jobId/$date/$model" params={{ jobId, date, model }}>
          <b>{item.label}</b>
        </Link>
        <HouseTag isLlm={item.is_llm} />
        {item.job_ids.length > 1 && <Tag>{t('compare.day.trial')}</Tag>}
        {day && <QualityTag quality={qualityOf(day.provenance.data_quality)} />}
        {day?.insolvent && <Tag kind="bad">{t('orders.insolvent', { since: format.day(day.insolvent.since) })}</Tag>}
        <UnverifiedTag provenance={day?.provenance} />
      </header>
      {query.isPending && <Loading rows={3} />}
      {query.error && !day && <Failed error={query.error} />}
      {query.data === null && <p className="second">{t('compare.day.none')}</p>}
      {day && (
        <>
          <p className="tnum">
            <b className={signClass(change)}>{format.change(change == null ? null : change / 100)}</b> <Books books={day.books} />
          </p>
          {head.data && head.data.decisions.length > 0 && (
            <p className="row wrap">
              {head.data.decisions.map((one) => (
                <span key={one.symbol}>
                  {one.symbol} <b>{one.rating ?? t('session.undecided')}</b>
                </span>
              ))}
            </p>
          )}
          {head.data && <Decisions texts={head.data.decision_texts} />}
          <ul className={css.orders}>
            {day.trades.map((trade) => (
              <li key={trade.action_id}>
                <span className={`act ${trade.action_type}`}>{word('side', trade.action_type)}</span> {format.quantity(trade.quantity)} {trade.symbol} @ {format.price(trade.price)}
              </li>
            ))}
            {day.rejections.map((one) => (
              <li key={one.order_id} className="second">
                {t('compare.day.rejected')} {word('side', one.side)} {format.quantity(one.quantity)} {one.symbol}: {one.code ? code('order', one.code) : word('side', one.status)}
              </li>
            ))}
            {day.pending_orders.map((one) => (
              <li key={one.order_id} className="second">
                {t('compare.day.pending')} {word('side', one.side)} {format.quantity(one.quantity)} {one.symbol}
                {one.fills_at != null && ` (${t('orders.fills.at')}: ${textOr(t, `orders.fills.${one.fills_at}`, one.fills_at)})`}
              </li>
            ))}
          </ul>
          {head.data?.session_summary && <p className={`second ${css.summary}`}>{head.data.session_summary}</p>}
        </>
      )}
    </article>
  )
}

/** What the agent wrote when it decided. */
function Decisions({ texts }: { texts: DecisionText[] }) {
  const t = useText()
  if (texts.length === 0) return null
  return (
    <details className={css.decision}>
      <summary className="second">{t('compare.day.decision')}</summary>
      {texts.map((one) => {
        const json = parseJson(one.content)
        return (
          <div key={one.path}>
            {one.symbol != null && <b>{one.symbol}</b>}
            {json === undefined ? <RichText text={one.content} /> : <JsonView value={json} />}
          </div>
        )
      })}
    </details>
  )
}
