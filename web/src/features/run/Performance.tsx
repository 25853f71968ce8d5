// Equity, drawdown, figures and the days of a run.
import { useMemo, useState, type CSSProperties } from 'react'
import { DayStrip } from '@/charts/DayStrip'
import { EquityChart } from '@/charts/EquityChart'
import type { Job, RangeResult, Status } from '@/server/types'
import { useText } from '@/shared/i18n'
import { HouseTag, Segments } from '@/shared/ui/parts'
import { Note } from '@/shared/ui/states'
import { curvesOf, daysOf, scaleOf } from './curves'
import { MetricsTable } from './MetricsTable'

interface Props {
  job: Job
  results: RangeResult[]
  status: Status
}

export function Performance({ job, results, status }: Props) {
  const t = useText()
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const [marked, setMarked] = useState<string | null>(null)
  const [days, setDays] = useState<'all' | 'full'>('all')
  const curves = useMemo(() => curvesOf(inOrder(results, job), { hold: t('baseline.hold'), equal: t('baseline.equal') }), [results, job, t])
  const shown = useMemo(() => curves.filter((curve) => !hidden.has(curve.id)), [curves, hidden])
  const agents = job.simulation?.agents ?? NO_AGENTS
  const strips = useMemo(
    () =>
      agents.map((agent) => {
        const token = curves.find((curve) => curve.id === agent.name)?.token ?? '--line-strong'
        return { agent, token, days: daysOf(agent.name, status, results.find((result) => result.model === agent.name)) }
      }),
    [agents, curves, status, results],
  )
  const scale = useMemo(() => scaleOf(strips.flatMap((strip) => strip.days)), [strips])
  const degraded = results.some((result) => result.full_research.days < result.full_research.total_days)
  const lost = results.some((result) => !result.baselines)
  const toggle = (id: string) =>
    setHidden((now) => {
      const next = new Set(now)
      if (!next.delete(id)) next.add(id)
      return next
    })

  return (
    <div className="stack sections">
      {results.length > 0 && (
        <section className="panel" aria-label={t('chart.equity')}>
          <div className="panel-head">
            <h2>{t('run.equity')}</h2>
            <span className="quiet">{t('run.equity.what')}</span>
          </div>
          <EquityChart curves={shown} onDay={setMarked} />
        </section>
      )}
      <section className="panel" aria-label={t('run.days')}>
        <div className="panel-head">
          <h2>{t('run.days')}</h2>
          <span className="quiet grow">{t('run.days.what')}</span>
          <StripLegend />
        </div>
        <div className="panel-body strips">
          {strips.map(({ agent, token, days: own }) => (
            <div key={agent.name} className="pair">
              <span className="row">
                <span className="legend-swatch" style={{ '--swatch': `var(${token})` } as CSSProperties} />
                <span className="clip">{agent.name}</span>
                <HouseTag isLlm={agent.is_llm} />
              </span>
              <DayStrip jobId={job.job_id} model={agent.name} days={own} scale={scale} marked={marked} />
            </div>
          ))}
        </div>
      </section>
      {results.length > 0 && (
        <section className="panel" aria-label={t('run.metrics')}>
          <div className="panel-head">
            <h2>{t('run.metrics')}</h2>
            <span className="grow" />
            <Segments
              label={t('run.metrics.days')}
              value={days}
              onChange={setDays}
              choices={[
                { value: 'all', label: t('run.metrics.all') },
                { value: 'full', label: t('run.metrics.full') },
              ]}
            />
          </div>
          <MetricsTable results={results} curves={curves} hidden={hidden} onToggle={toggle} fullOnly={days === 'full'} market={job.simulation?.market ?? null} />
        </section>
      )}
      {degraded && days === 'all' && (
        <Note kind="warn" title={t('run.degraded')}>
          {t('run.degraded.why')}{' '}
          <button type="button" className="button small" onClick={() => setDays('full')}>
            {t('run.metrics.full')}
          </button>
        </Note>
      )}
      {lost && results.length > 0 && <Note>{t('run.no.baselines')}</Note>}
    </div>
  )
}

const NO_AGENTS: NonNullable<Job['simulation']>['agents'] = []

/** In the order in which the run names its agents. */
function inOrder(results: RangeResult[], job: Job): RangeResult[] {
  const names = job.simulation?.agents.map((agent) => agent.name) ?? []
  return [...results].sort((a, b) => names.indexOf(a.model) - names.indexOf(b.model))
}

function StripLegend() {
  const t = useText()
  const cell = (look: string, text: string) => (
    <span className="row strip-key">
      <i className={`day ${look}`} style={{ '--v': '80%' } as CSSProperties} />
      {text}
    </span>
  )
  return (
    <span className="row wrap strip-legend second" aria-hidden="true">
      {cell('gain', t('strip.gain'))}
      {cell('loss', t('strip.loss'))}
      {cell('even degraded', t('quality.degraded'))}
      {cell('failed', t('status.failed'))}
      {cell('queued', t('status.queued'))}
    </span>
  )
}
