// Fills on the bars, and as a table with links to their sessions.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { Fill } from '@/charts/marks'
import { PriceChart } from '@/charts/PriceChart'
import { agentSessions, bars as barsQuery } from '@/server/queries'
import type { Job } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { More, Segments } from '@/shared/ui/parts'
import { Empty, Failed, Loading, Note } from '@/shared/ui/states'
import { ledgerRows, type LedgerRow } from './ledgerRows'

const PAGE = 150

export function TradesView({ job }: { job: Job }) {
  const t = useText()
  const navigate = useNavigate()
  const simulation = job.simulation
  const symbols = simulation?.symbols ?? []
  const agents = simulation?.agents ?? []
  const [selectedSymbol, setSymbol] = useState<string | null>(null)
  const [agent, setAgent] = useState(agents[0]?.name ?? '')
  const sessions = useQuery(agentSessions(job.job_id, agent))
  // Start with an instrument that the agent has traded.
  const traded = sessions.data?.find((one) => one.positions.some((position) => position.symbol))
  const symbol = selectedSymbol ?? traded?.positions.find((position) => position.symbol)?.symbol ?? symbols[0] ?? ''
  // Start some weeks earlier for context.
  const from = useMemo(() => daysBefore(simulation?.start_date ?? '', 60), [simulation?.start_date])
  const bars = useQuery(barsQuery(simulation?.dataset.hash ?? '', symbol, from, simulation?.end_date))
  // Newest first.
  const rows = useMemo(() => ledgerRows(sessions.data ?? []).reverse(), [sessions.data])
  const fills = useMemo<Fill[]>(
    () => rows.flatMap(({ session, position, buys }) => (buys === null || position.symbol !== symbol ? [] : [{ date: session.date, buys, quantity: position.amount }])),
    [rows, symbol],
  )
  // A running run must not show events after its newest day.
  const newest = useMemo(() => (sessions.data ?? []).reduce((latest, one) => (one.date > latest ? one.date : latest), ''), [sessions.data])
  const events = useMemo(() => (bars.data?.actions ?? []).filter((event) => event.date <= newest), [bars.data, newest])
  const days = useMemo(() => new Set((sessions.data ?? []).map((one) => one.date)), [sessions.data])
  const pick = (date: string) => {
    if (days.has(date)) void navigate({ to: '/app/runs/$jobId/$date/$model', params: { jobId: job.job_id, date, model: agent } })
  }

  return (
    <div className="stack sections">
      <section className="panel" aria-label={t('run.prices')}>
        <div className="panel-head">
          <h2>{t('run.prices')}</h2>
          <Segments label={t('word.symbol')} value={symbol} onChange={setSymbol} choices={symbols.slice(0, 12).map((value) => ({ value, label: value }))} />
          {symbols.length > 12 && (
            <select className="select short" aria-label={t('word.symbol')} value={symbol} onChange={(event) => setSymbol(event.target.value)}>
              {symbols.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          )}
          <span className="grow" />
          <label className="row second">
            {t('run.trades.of')}
            <select className="select short" value={agent} onChange={(event) => setAgent(event.target.value)}>
              {agents.map((one) => (
                <option key={one.name}>{one.name}</option>
              ))}
            </select>
          </label>
        </div>
        {bars.isPending && <Loading rows={8} />}
        {bars.error && <Failed error={bars.error} retry={() => void bars.refetch()} />}
        {bars.data === null && (
          <div className="panel-body">
            <Note kind="warn">{t('run.no.bars')}</Note>
          </div>
        )}
        {bars.data && <PriceChart label={symbol} bars={bars.data.bars} fills={fills} events={events} onPick={pick} />}
      </section>
      <section className="panel" aria-label={t('run.fills')}>
        <div className="panel-head">
          <h2>{t('run.fills')}</h2>
          <span className="quiet">{t('run.fills.what')}</span>
        </div>
        {sessions.isPending && <Loading rows={6} />}
        {sessions.error && !sessions.data && <Failed error={sessions.error} retry={() => void sessions.refetch()} />}
        {sessions.data && (rows.length === 0 ? <Empty title={t('run.fills.none')} /> : <Fills key={agent} job={job} rows={rows} />)}
      </section>
    </div>
  )
}

function Fills({ job, rows }: { job: Job; rows: LedgerRow[] }) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  const [count, setCount] = useState(PAGE)
  const market = job.simulation?.market
  return (
    <>
      <div className="scroll-x">
        <table className="grid-table">
          <thead>
            <tr>
              <th>{t('word.day')}</th>
              <th>{t('word.action')}</th>
              <th>{t('word.symbol')}</th>
              <th className="num">{t('word.quantity')}</th>
              <th className="num">{t('word.price')}</th>
              <th className="num">{t('word.cash.after')}</th>
              <th className="num">{t('word.value')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, count).map(({ session, position }) => (
              <tr key={`${session.session_id} ${position.action_id}`}>
                <td className="tnum nowrap">
                  <Link
                    to="/app/runs/$jobId/$date/$model"
                    params={{ jobId: job.job_id, date: session.date, model: session.model }}
                    search={{ view: 'orders', order: String(position.action_id) }}
                  >
                    {format.day(session.date)}
                  </Link>
                </td>
                <td>
                  <span className={`act ${position.action_type}`}>{word('side', position.action_type)}</span>
                </td>
                <td>{position.symbol}</td>
                <td className="num">{format.quantity(position.amount)}</td>
                <td className="num">{format.price(position.price)}</td>
                <td className="num">{format.money(position.cash_after, market)}</td>
                <td className="num">{format.money(position.portfolio_value, market)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <More has={rows.length > count} busy={false} onMore={() => setCount(count + PAGE * 4)} />
    </>
  )
}

/** The date some calendar days earlier. */
function daysBefore(date: string, days: number): string {
  const at = new Date(`${date}T00:00:00Z`)
  if (Number.isNaN(at.getTime())) return ''
  at.setUTCDate(at.getUTCDate() - days)
  return at.toISOString().slice(0, 10)
}
