// Fills and degraded days on the bars, and round trips and fills as tables with links to their sessions.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Fill } from '@/charts/marks'
import { PriceChart } from '@/charts/PriceChart'
import { bars as barsQuery } from '@/server/queries'
import { agentSessions } from '@/server/sessions'
import type { Curves, Job } from '@/server/types'
import { signClass, useFormat } from '@/shared/format'
import { shortId } from '@/shared/ids'
import { useText, useWord } from '@/shared/i18n'
import { Segments } from '@/shared/ui/parts'
import { Empty, Failed, Loading, Note } from '@/shared/ui/states'
import { type Column, SortTable } from '@/shared/ui/table'
import { degradedDays } from './curves'
import { ledgerRows, type LedgerRow } from './ledgerRows'
import { type RoundTrip, roundTrips } from './roundTrips'
import type { RunSearch } from './search'

/** With more symbols, a list replaces the buttons. */
const MAX_BUTTONS = 8

interface Props {
  job: Job
  curves: Curves | undefined
  /** The selected symbol, agent and scope. */
  search: RunSearch
  onChange: (part: RunSearch) => void
}

export function TradesView({ job, curves, search, onChange }: Props) {
  const t = useText()
  const navigate = useNavigate()
  const simulation = job.simulation
  const agents = simulation?.agents ?? []
  const scope = search.scope ?? 'symbol'
  const selected = agents.find((one) => one.name === search.agent) ?? agents[0]
  const agent = selected?.name ?? ''
  const setSymbol = (symbol: string) => onChange({ symbol })
  const curve = curves?.agents.find((one) => one.model === agent)
  // Before the first session there is nothing to fetch. A completed run without skipped days has one on each day.
  const begun = (job.status === 'completed' && job.progress.skipped === 0) || (curve?.statuses.some((status) => status === 'completed' || status === 'failed') ?? false)
  const sessions = useQuery({ ...agentSessions(job.job_id, agent), enabled: agent !== '' && begun })
  const loading = sessions.isPending && begun
  const rows = useMemo(() => ledgerRows(sessions.data ?? []), [sessions.data])
  // The account of a branch or a continued run starts with the cash of another job.
  const initialCash = simulation && !simulation.branch && Object.keys(simulation.continues).length === 0 ? simulation.initial_cash : null
  const trips = useMemo(() => roundTrips(rows, initialCash).reverse(), [rows, initialCash])
  const newestFirst = useMemo(() => [...rows].reverse(), [rows])
  // A universe has too many symbols to list: those that were traded come first.
  const traded = useMemo(() => [...new Set(rows.flatMap(({ position }) => (position.symbol ? [position.symbol] : [])))], [rows])
  const symbols = useMemo(() => [...new Set([...(simulation?.universe == null ? [] : traded), ...(simulation?.symbols ?? []), ...traded])], [simulation, traded])
  // Start with an instrument that the agent has traded.
  const symbol = symbols.find((one) => one === search.symbol) ?? traded[0] ?? symbols[0] ?? ''
  // Start some weeks earlier for context.
  const from = useMemo(() => daysBefore(simulation?.start_date ?? '', 60), [simulation?.start_date])
  const bars = useQuery(barsQuery(simulation?.dataset.hash ?? '', symbol, from, simulation?.end_date))
  const fills = useMemo<Fill[]>(
    () => rows.flatMap(({ session, position, buys }) => (buys === null || position.symbol !== symbol ? [] : [{ date: session.date, buys, quantity: position.amount }])),
    [rows, symbol],
  )
  // A running run must not show events after its newest day.
  const newest = useMemo(() => (sessions.data ?? []).reduce((latest, one) => (one.date > latest ? one.date : latest), ''), [sessions.data])
  const events = useMemo(() => (bars.data?.actions ?? []).filter((event) => event.date <= newest), [bars.data, newest])
  const days = useMemo(() => new Set((sessions.data ?? []).map((one) => one.date)), [sessions.data])
  const degraded = useMemo(() => (curve && curves ? degradedDays(curve, curves.dates) : []), [curve, curves])
  const pick = (date: string) => {
    if (days.has(date)) void navigate({ to: '/app/runs/$jobId/$date/$model', params: { jobId: job.job_id, date, model: agent } })
  }
  const inScope = (one: string | null | undefined) => scope === 'all' || one === symbol
  const shownTrips = useMemo(() => (scope === 'all' ? trips : trips.filter((trip) => trip.symbol === symbol)), [trips, scope, symbol])
  const filter = (
    <Segments
      label={t('trades.scope')}
      value={scope}
      onChange={(next) => onChange({ scope: next === 'all' ? next : undefined })}
      choices={[
        { value: 'symbol', label: symbol },
        { value: 'all', label: t('trades.all') },
      ]}
    />
  )
  const status = (
    <>
      {loading && <Loading rows={6} />}
      {sessions.error && !sessions.data && <Failed error={sessions.error} retry={() => void sessions.refetch()} />}
    </>
  )

  return (
    <div className="stack sections">
      <section className="panel" aria-label={t('run.prices')}>
        <div className="panel-head">
          <h2>{t('run.prices')}</h2>
          {symbols.length <= MAX_BUTTONS ? (
            <Segments label={t('word.symbol')} value={symbol} onChange={setSymbol} choices={symbols.map((value) => ({ value, label: value }))} />
          ) : (
            <select className="select short" aria-label={t('word.symbol')} value={symbol} onChange={(event) => setSymbol(event.target.value)}>
              {symbols.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          )}
          <span className="grow" />
          <label className="row second">
            {t('run.trades.of')}
            <select className="select short" value={agent} onChange={(event) => onChange({ agent: event.target.value === agents[0]?.name ? undefined : event.target.value })}>
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
        {bars.data && <PriceChart label={symbol} bars={bars.data.bars} fills={fills} events={events} degraded={degraded} onPick={pick} />}
      </section>
      <section className="panel" aria-label={t('trades.trips')}>
        <div className="panel-head">
          <h2>{t('trades.trips')}</h2>
          <span className="quiet grow">{t('trades.trips.what')}</span>
          {filter}
        </div>
        {status}
        {!loading && (shownTrips.length === 0 ? <Empty title={t(scope === 'all' ? 'trades.trips.none' : 'trades.trips.none.symbol', { symbol })} /> : <Trips key={`${agent} ${symbol} ${scope}`} job={job} trips={shownTrips} />)}
      </section>
      <section className="panel" aria-label={t('run.fills')}>
        <div className="panel-head">
          <h2>{t('run.fills')}</h2>
          <span className="quiet grow">{t('run.fills.what')}</span>
          {filter}
        </div>
        {status}
        {!loading && <Fills key={`${agent} ${symbol} ${scope}`} job={job} rows={newestFirst.filter(({ position }) => inScope(position.symbol))} />}
      </section>
    </div>
  )
}

/** A link to the entry in its session. */
function EntryLink({ job, row }: { job: Job; row: LedgerRow }) {
  const format = useFormat()
  const { session, position } = row
  return (
    <Link to="/app/runs/$jobId/$date/$model" params={{ jobId: job.job_id, date: session.date, model: session.model }} search={{ view: 'orders', order: String(position.action_id) }} className="nowrap">
      {format.day(session.date)}
    </Link>
  )
}

function Trips({ job, trips }: { job: Job; trips: RoundTrip[] }) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  const market = job.simulation?.market
  const columns = useMemo<Column<RoundTrip>[]>(
    () => [
      { id: 'symbol', label: t('word.symbol'), sort: (trip) => trip.symbol, cell: (trip) => trip.symbol, stays: true },
      { id: 'opened', label: t('trades.opened'), sort: (trip) => trip.opened.session.date, csv: { opened_date: (trip) => trip.opened.session.date }, cell: (trip) => <EntryLink job={job} row={trip.opened} />, className: () => 'tnum' },
      { id: 'side', label: t('trades.side'), sort: (trip) => trip.side, cell: (trip) => <span className={`act ${trip.side}`}>{word('side', trip.side)}</span> },
      { id: 'pnl', label: t('trades.pnl'), title: t('trades.pnl.what'), num: true, sort: (trip) => trip.pnl, cell: (trip) => format.gain(trip.pnl, market), className: (trip) => signClass(trip.pnl) },
      { id: 'return', label: t('trades.return'), num: true, sort: (trip) => trip.return, cell: (trip) => format.change(trip.return), className: (trip) => signClass(trip.return) },
      { id: 'closed', label: t('trades.closed'), sort: (trip) => trip.closed?.session.date, csv: { closed_date: (trip) => trip.closed?.session.date }, cell: (trip) => (trip.closed ? <EntryLink job={job} row={trip.closed} /> : <span className="tag">{t('trades.open')}</span>), className: () => 'tnum' },
      { id: 'quantity', label: t('word.quantity'), num: true, sort: (trip) => trip.quantity, cell: (trip) => format.quantity(trip.quantity) },
      { id: 'entry', label: t('trades.entry'), num: true, sort: (trip) => trip.entry, csv: { mean_entry_price: (trip) => trip.entry }, cell: (trip) => format.price(trip.entry) },
      { id: 'exit', label: t('trades.exit'), num: true, sort: (trip) => trip.exit, csv: { mean_exit_price: (trip) => trip.exit }, cell: (trip) => format.price(trip.exit) },
      { id: 'days', label: t('trades.days'), title: t('trades.days.what'), num: true, sort: daysHeld, csv: { calendar_days_held: daysHeld }, cell: (trip) => format.count(daysHeld(trip)) },
      { id: 'fills', label: t('trades.fills'), num: true, sort: (trip) => trip.fills, cell: (trip) => format.count(trip.fills) },
      { id: 'cause', label: t('trades.cause'), sort: (trip) => trip.closed?.position.action_type, cell: (trip) => (trip.closed ? word('cause', trip.closed.position.action_type) : '') },
    ],
    [t, word, format, job, market],
  )
  const closed = trips.filter((trip) => trip.pnl !== null)
  const total = closed.reduce((sum, trip) => sum + (trip.pnl ?? 0), 0)
  const won = closed.filter((trip) => (trip.pnl ?? 0) > 0).length
  return (
    <>
      {closed.length > 0 && (
        <p className="table-title second">
          {t('trades.total', { count: closed.length, won })} <b className={`tnum ${signClass(total)}`}>{format.gain(total, market)}</b>
        </p>
      )}
      <SortTable label={t('trades.trips')} name={`round-trips-${shortId(job.job_id)}`} columns={columns} rows={trips} rowKey={(trip) => trip.id} />
    </>
  )
}

/** Calendar days from the opening to the closing fill. */
function daysHeld(trip: RoundTrip): number | null {
  return trip.closed ? Math.round((Date.parse(trip.closed.session.date) - Date.parse(trip.opened.session.date)) / 86_400_000) : null
}

function Fills({ job, rows }: { job: Job; rows: LedgerRow[] }) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  const market = job.simulation?.market
  const columns = useMemo<Column<LedgerRow>[]>(
    () => [
      { id: 'day', label: t('word.day'), sort: ({ session }) => session.date, csv: { date: ({ session }) => session.date, agent: ({ session }) => session.model, session_id: ({ session }) => session.session_id, action_id: ({ position }) => position.action_id }, cell: (row) => <EntryLink job={job} row={row} />, className: () => 'tnum' },
      { id: 'action', label: t('word.action'), sort: ({ position }) => position.action_type, cell: ({ position }) => <span className={`act ${position.action_type}`}>{word('side', position.action_type)}</span> },
      { id: 'symbol', label: t('word.symbol'), sort: ({ position }) => position.symbol, cell: ({ position }) => position.symbol },
      { id: 'quantity', label: t('word.quantity'), num: true, sort: ({ position }) => position.amount, cell: ({ position }) => format.quantity(position.amount) },
      { id: 'price', label: t('word.price'), num: true, sort: ({ position }) => position.price, cell: ({ position }) => format.price(position.price) },
      { id: 'cash', label: t('word.cash.after'), num: true, sort: ({ position }) => position.cash_after, csv: { cash_after: ({ position }) => position.cash_after }, cell: ({ position }) => format.money(position.cash_after, market) },
      { id: 'value', label: t('word.value'), num: true, sort: ({ position }) => position.portfolio_value, csv: { portfolio_value: ({ position }) => position.portfolio_value }, cell: ({ position }) => format.money(position.portfolio_value, market) },
    ],
    [t, word, format, job, market],
  )
  if (rows.length === 0) return <Empty title={t('run.fills.none')} />
  return <SortTable label={t('run.fills')} name={`fills-${shortId(job.job_id)}`} columns={columns} rows={rows} rowKey={({ session, position }) => `${session.session_id} ${position.action_id}`} />
}

/** The date some calendar days earlier. */
function daysBefore(date: string, days: number): string {
  const at = new Date(`${date}T00:00:00Z`)
  if (Number.isNaN(at.getTime())) return ''
  at.setUTCDate(at.getUTCDate() - days)
  return at.toISOString().slice(0, 10)
}
