// Equity, drawdown, metrics and days of a run. The lines load first, because metrics take longer to compute.
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useCallback, useDeferredValue, useMemo, useRef, useState } from 'react'
import { markCells } from '@/charts/DayStrip'
import { EquityChart } from '@/charts/EquityChart'
import type { Curves, Job, RangeResult, RangeResults } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { Segments } from '@/shared/ui/parts'
import { Failed, Loading, Note } from '@/shared/ui/states'
import { conventionsText } from '@/shared/conventions'
import { benchmarkNotes } from './benchmark'
import { curvesOf, dayBefore } from './curves'
import { Days } from './Days'
import { History } from './History'
import { Legend } from './Legend'
import { MetricsTable } from './MetricsTable'

interface Props {
  job: Job
  curves: Curves
  results: UseQueryResult<RangeResults | null>
  /** The same with the days of each agent. */
  daily: UseQueryResult<RangeResults | null>
  /** The benchmark selector. */
  pick?: ReactNode
  /** The exchange's time zone, if known. */
  zone: string | null
  /** Whether the metrics are of days with full research only. */
  isFullOnly: boolean
  onFullOnly: (isFullOnly: boolean) => void
}

const NO_RESULTS: RangeResult[] = []

export function Performance({ job, curves, results: query, daily, pick, zone, isFullOnly, onFullOnly }: Props) {
  const t = useText()
  const format = useFormat()
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const strips = useRef<HTMLDivElement>(null)
  const results = query.data?.results ?? NO_RESULTS
  const drawn = useMemo(() => curvesOf(curves, results, { hold: t('baseline.hold'), equal: t('baseline.equal') }), [curves, results, t])
  // The metrics do not wait for the lines of the baselines, which come with them.
  const visible = useDeferredValue(useMemo(() => drawn.filter((curve) => !hidden.has(curve.id)), [drawn, hidden]))
  const start = useMemo(() => dayBefore(curves.dates), [curves.dates])
  // The first point is the start.
  const closed = drawn.some((curve) => curve.points.length > 1)
  const degraded = useMemo(() => curves.agents.some((agent) => agent.full_research.includes(false)), [curves])
  const baselinesMissing = results.some((result) => !result.baselines)
  const longest = results.find((result) => result.baselines)
  // Runs at each pointer move, so it bypasses React.
  const legend = useRef<(date: string | null) => void>(() => {})
  const mark = useCallback((date: string | null) => {
    markCells(strips.current, date)
    legend.current(date)
  }, [])
  const toggle = (id: string) =>
    setHidden((current) => {
      const next = new Set(current)
      if (!next.delete(id)) next.add(id)
      return next
    })

  return (
    <div className="stack sections">
      <section className="panel" aria-label={t('chart.equity')}>
        <div className="panel-head">
          <h2>{t('run.equity')}</h2>
          <span className="quiet grow">{t('run.equity.what')}</span>
          {closed && pick}
        </div>
        <Legend curves={drawn} hidden={hidden} onToggle={toggle} day={legend} start={start} />
        <EquityChart curves={visible} start={start} dates={curves.dates} onDay={mark} />
      </section>
      <Days jobId={job.job_id} curves={curves} box={strips} />
      {closed && (
        <section className="panel" aria-label={t('run.metrics')}>
          <div className="panel-head">
            <h2>{t('run.metrics')}</h2>
            <span className="grow" />
            <Segments
              label={t('run.metrics.days')}
              value={isFullOnly ? 'full' : 'all'}
              onChange={(days) => onFullOnly(days === 'full')}
              choices={[
                { value: 'all', label: t('run.metrics.all') },
                { value: 'full', label: t('run.metrics.full') },
              ]}
            />
          </div>
          {query.isPending && <Loading rows={curves.agents.length + 2} />}
          {query.error && !query.data && <Failed error={query.error} retry={() => void query.refetch()} />}
          {query.data && <MetricsTable results={results} curves={drawn} hidden={hidden} onToggle={toggle} fullOnly={isFullOnly} market={job.simulation?.market ?? null} isCostUnknown={job.usage.cost_usd == null} />}
        </section>
      )}
      {closed && !isFullOnly && results.length > 0 && (
        <>
          {daily.data && <History results={daily.data.results} curves={drawn} hidden={hidden} onToggle={toggle} zone={zone} />}
          {daily.isPending && <Loading rows={6} />}
          {daily.error && !daily.data && <Failed error={daily.error} retry={() => void daily.refetch()} />}
        </>
      )}
      {degraded && !isFullOnly && (
        <Note kind="warn" title={t('run.degraded')}>
          {t('run.degraded.why')}{' '}
          <button type="button" className="button small" onClick={() => onFullOnly(true)}>
            {t('run.metrics.full')}
          </button>
        </Note>
      )}
      {isFullOnly && <Note>{t('run.metrics.full.why')}</Note>}
      {[...new Set(results.flatMap((result) => (result.conventions ? [conventionsText(result.conventions, t)] : [])))].map((summary) => (
        <Note key={summary}>{summary}</Note>
      ))}
      {results.map((result) => {
        const refilled = result.refilled_at_next_open
        if (!refilled) return null
        const { model } = result
        if (refilled.unavailable) return <Note key={model}>{t('run.refilled.none', { model })}</Note>
        const counts = { reduced: refilled.reduced, rejected: refilled.rejected, late: refilled.without_next_bar }
        return (
          <Note key={model}>
            {t('run.refilled', { model, again: format.percent(refilled.total_return), shown: format.percent(result.period_metrics.total_return) })}
            {refilled.reduced + refilled.rejected + refilled.without_next_bar > 0 && ` ${t('run.refilled.counts', counts)}`}
          </Note>
        )
      })}
      {benchmarkNotes(results, t, format).map((text) => (
        <Note key={text}>{text}</Note>
      ))}
      {baselinesMissing && results.length > 0 && <Note>{t('run.no.baselines')}</Note>}
      {(['buy_and_hold', 'equal_weight'] as const).map((name) => {
        const baseline = longest?.baselines?.[name]
        if (!baseline?.is_underinvested) return null
        return (
          <Note key={name} kind="warn">
            {t('run.uninvested', { name: t(`baseline.${name}`), share: format.percent(baseline.uninvested) })}
          </Note>
        )
      })}
    </div>
  )
}
