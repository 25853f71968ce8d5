// Where desks spend their time: two runs side by side, and which one is recommended.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useRef } from 'react'
import { deskPhases } from '@/server/nodes'
import { type Cohort, compare, jobs, options, type Report } from '@/server/queries'
import type { Job } from '@/server/types'
import type { TableData } from '@/shared/csv'
import { ABSENT, type Format, useFormat } from '@/shared/format'
import { textOr, type Translate, useText } from '@/shared/i18n'
import { runTitle } from '@/shared/runTitle'
import { useTitle } from '@/shared/title'
import { ExportMenu } from '@/shared/ui/exportMenu'
import { Stat, Pairs } from '@/shared/ui/parts'
import { Command, Empty, Example, Failed, Loading, Note } from '@/shared/ui/states'
import { type Column, SortTable, TableFrame } from '@/shared/ui/table'
import css from './profiles.module.css'

const VARIED = ['model', 'provider', 'date', 'ticker', 'max-debate-rounds', 'max-risk-discuss-rounds', 'overall-timeout'] as const

const isDesk = (job: Job) => job.simulation?.agents.some((agent) => agent.kind === 'desk') ?? false

export function ProfilesPage() {
  const t = useText()
  const navigate = useNavigate({ from: '/app/profiles' })
  const search = useSearch({ from: '/app/profiles' })
  useTitle(t('nav.profiles'))
  const runs = useInfiniteQuery(jobs({ kind: 'simulate' }))
  const desks = useMemo(() => (runs.data?.pages.flatMap((page) => page.jobs) ?? []).filter(isDesk), [runs.data])
  const vary = search.vary?.split(',').filter(Boolean) ?? ['model']
  const both = search.a !== undefined && search.b !== undefined
  const change = (part: { a?: string | undefined; b?: string | undefined; vary?: string | undefined }) => void navigate({ search: (now) => ({ ...now, ...part }), replace: true, resetScroll: false })
  const toggle = (what: string) => change({ vary: (vary.includes(what) ? vary.filter((one) => one !== what) : [...vary, what]).join(',') || 'none' })
  const older = runs.hasNextPage && (
    <button type="button" className="button small" disabled={runs.isFetchingNextPage} onClick={() => void runs.fetchNextPage()}>
      {runs.isFetchingNextPage ? t('state.loading') : t('profiles.more')}
    </button>
  )
  return (
    <div className="page">
      <div className="page-head">
        <div className="grow">
          <h1>{t('nav.profiles')}</h1>
          <p className="second">{t('profiles.what')}</p>
        </div>
        {older}
      </div>
      {runs.isPending && <Loading />}
      {runs.error && !runs.data && <Failed error={runs.error} retry={() => void runs.refetch()} />}
      {runs.data && desks.length === 0 && (
        <div className="panel">
          <Empty title={t('profiles.none')} command="papertape run --kind desk --model house::momentum --start 2012-10-01 --end 2012-10-12">
            <p className="second">{t('profiles.none.why')}</p>
            <Example>
              <p>{t('example.profile')}</p>
            </Example>
          </Empty>
        </div>
      )}
      {(desks.length > 0 || both) && (
        <>
          <div className="panel panel-body stack">
            <div className={`fields ${css.cohorts}`}>
              <RunSelect label={t('profiles.a')} value={search.a} jobs={desks} onChange={(a) => change({ a })} />
              <RunSelect label={t('profiles.b')} value={search.b} jobs={desks} onChange={(b) => change({ b })} />
            </div>
            <fieldset className="field">
              <legend>{t('profiles.vary')}</legend>
              <div className="row wrap">
                {VARIED.map((what) => (
                  <label key={what} className="chip">
                    <input type="checkbox" checked={vary.includes(what)} onChange={() => toggle(what)} />
                    {t(`profiles.vary.${what}`)}
                  </label>
                ))}
              </div>
            </fieldset>
          </div>
          {both ? <Comparison a={search.a ?? ''} b={search.b ?? ''} vary={vary.filter((one) => one !== 'none').join(',')} jobs={desks} /> : <p className="second">{t('profiles.choose')}</p>}
          <div className="stack">
            <span className="second">{t('profiles.files')}</span>
            <Command text="papertape profile ab --a DIR --b DIR" />
          </div>
        </>
      )}
    </div>
  )
}

interface ChooseProps {
  label: string
  value: string | undefined
  jobs: Job[]
  onChange: (job: string | undefined) => void
}

function RunSelect({ label, value, jobs: desks, onChange }: ChooseProps) {
  const t = useText()
  const format = useFormat()
  const labelOf = (job: Job) => `${nameOf(job, format, t)} · ${format.instant(job.created_at)}`
  return (
    <label className="field">
      <span>{label}</span>
      <select className="select" value={value ?? ''} onChange={(event) => onChange(event.target.value || undefined)}>
        <option value="">–</option>
        {value !== undefined && desks.every((job) => job.job_id !== value) && <option value={value}>{value}</option>}
        {desks.map((job) => (
          <option key={job.job_id} value={job.job_id}>
            {labelOf(job)}
          </option>
        ))}
      </select>
    </label>
  )
}

/** The agents come first, because compared runs mostly share the rest. */
function nameOf(job: Job, format: Format, t: Translate): string {
  const simulation = job.simulation
  if (!simulation) return job.job_id
  const agents = simulation.agents.filter((agent) => agent.kind === 'desk').map((agent) => (agent.name.includes(agent.model) ? agent.name : `${agent.name} (${agent.model})`))
  return [agents.join(', '), runTitle(job, t), format.span(simulation.start_date, simulation.end_date)].join(' · ')
}

function Comparison({ a, b, vary, jobs: known }: { a: string; b: string; vary: string; jobs: Job[] }) {
  const t = useText()
  const format = useFormat()
  const query = useQuery(compare(a, b, vary))
  const offered = useQuery(options())
  if (query.isPending || offered.isPending) return <Loading />
  if (query.error) {
    return (
      <Note kind="warn" title={t('profiles.refused')}>
        {query.error.message}
      </Note>
    )
  }
  const runLink = (id: string) => {
    const job = known.find((one) => one.job_id === id)
    return (
      <Link to="/app/runs/$jobId" params={{ jobId: id }}>
        {job ? nameOf(job, format, t) : id}
      </Link>
    )
  }
  return (
    <>
      <Pairs
        rows={[
          [query.data.label_a, runLink(a)],
          [query.data.label_b, runLink(b)],
        ]}
      />
      <ReportView report={query.data} phases={deskPhases(offered.data?.nodes ?? [])} />
    </>
  )
}

function ReportView({ report, phases }: { report: Report; phases: string[] }) {
  const t = useText()
  const label = (name: string | null) => name ?? t('profiles.tie')
  const { comparison } = report
  const differences: Column<Report['differences'][number]>[] = [
    { id: 'setting', label: t('profiles.setting'), sort: (one) => one.name, cell: (one) => one.name },
    { id: 'a', label: report.label_a, sort: (one) => one.a, className: () => 'mono', cell: (one) => one.a },
    { id: 'b', label: report.label_b, sort: (one) => one.b, className: () => 'mono', cell: (one) => one.b },
  ]
  return (
    <div className="stack sections">
      <section className="panel" aria-label={t('profiles.recommended')}>
        <div className="panel-body stack">
          <dl className="figures">
            <Stat name={t('profiles.recommended')} value={comparison.recommended_label ?? t('profiles.neither')} />
            <Stat name={t('profiles.faster')} value={label(comparison.faster_label)} />
            <Stat name={t('profiles.lower.degradation')} value={label(comparison.lower_degradation_label)} />
            <Stat name={t('profiles.lower.errors')} value={label(comparison.lower_error_rate_label)} />
          </dl>
          <p>{comparison.why}</p>
          {report.flags.map((flag) => (
            <Note key={flag} kind="warn">
              {flag}
            </Note>
          ))}
        </div>
      </section>
      <Cohorts report={report} phases={phases} />
      {report.differences.length > 0 && (
        <section className="panel" aria-label={t('profiles.differences')}>
          <div className="panel-head">
            <h2>{t('profiles.differences')}</h2>
          </div>
          <SortTable label={t('profiles.differences')} name="profile-differences" columns={differences} rows={report.differences} rowKey={(one) => one.name} />
        </section>
      )}
    </div>
  )
}

function Cohorts({ report, phases }: { report: Report; phases: string[] }) {
  const t = useText()
  const format = useFormat()
  const cohorts = [report.label_a, report.label_b].map((name) => report.cohorts[name]).filter((one): one is Cohort => one !== undefined)
  const nameOfPhase = (phase: string) => textOr(t, `phase.${phase}`, phase)
  const bars = useRef<HTMLDivElement>(null)
  const longest = Math.max(1, ...cohorts.map((one) => one.median_total_elapsed_ms ?? 0))
  const span = (median: number | null | undefined, iqr: number | null | undefined) =>
    median == null ? ABSENT : `${format.duration(median / 1000)}${iqr == null ? '' : ` ± ${format.duration(iqr / 1000)}`}`
  const rows: [string, (one: Cohort) => string][] = [
    [t('profiles.runs'), (one) => format.count(one.run_count)],
    [t('profiles.ok'), (one) => format.count(one.ok_count)],
    [t('profiles.errors'), (one) => `${format.count(one.error_count)} (${format.percent(one.error_rate, 0)})`],
    [t('profiles.degraded'), (one) => `${format.count(one.degraded_run_count)} (${format.percent(one.degraded_rate, 0)})`],
    [t('profiles.total'), (one) => span(one.median_total_elapsed_ms, one.iqr_total_elapsed_ms)],
    ...phases.map((phase): [string, (one: Cohort) => string] => [nameOfPhase(phase), (one) => span(one.median_phase_elapsed_ms[phase], one.iqr_phase_elapsed_ms[phase])]),
    [t('profiles.history'), (one) => format.count(one.median_final_history_len)],
  ]
  return (
    <section className="panel" aria-label={t('profiles.total')}>
      <div className="panel-head">
        <span className="quiet grow">{t('profiles.medians')}</span>
        <ExportMenu what={t('profiles.phases')} name="profile-phases" csv={() => fileOf(cohorts, phases)} image={() => bars.current} />
      </div>
      <div className="panel-body stack" ref={bars}>
        {cohorts.map((one) => (
          <div key={one.label} className="row">
            <b className={css.cohortName}>{one.label}</b>
            <span className={css.phases} aria-hidden="true">
              {phases.map((phase) => (
                <span key={phase} className={`${css.phaseBar} ${phase}`} title={nameOfPhase(phase)} style={{ width: `${((one.median_phase_elapsed_ms[phase] ?? 0) / longest) * 100}%` }} />
              ))}
            </span>
          </div>
        ))}
        <div className="row wrap second" aria-hidden="true">
          {phases.map((phase) => (
            <span key={phase} className="row strip-key">
              <i className={`${css.phaseBar} ${phase}`} /> {nameOfPhase(phase)}
            </span>
          ))}
        </div>
      </div>
      <TableFrame label={t('profiles.total')} name="profile-cohorts" csv={() => fileOf(cohorts, phases)}>
        <table className="grid-table">
          <thead>
            <tr>
              <th> </th>
              {cohorts.map((one) => (
                <th key={one.label} className="num">
                  {one.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, of]) => (
              <tr key={name}>
                <td>{name}</td>
                {cohorts.map((one) => (
                  <td key={one.label} className="num">
                    {of(one)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
    </section>
  )
}

/** A row for each cohort. */
function fileOf(cohorts: Cohort[], phases: string[]): TableData {
  return {
    columns: [
      'cohort', 'runs', 'ok', 'errors', 'error_rate', 'degraded_runs', 'degraded_rate', 'median_total_ms', 'iqr_total_ms',
      ...phases.flatMap((phase) => [`median_${phase}_ms`, `iqr_${phase}_ms`]), 'median_final_history_length',
    ],
    rows: cohorts.map((one) => [
      one.label, one.run_count, one.ok_count, one.error_count, one.error_rate, one.degraded_run_count, one.degraded_rate, one.median_total_elapsed_ms, one.iqr_total_elapsed_ms,
      ...phases.flatMap((phase) => [one.median_phase_elapsed_ms[phase], one.iqr_phase_elapsed_ms[phase]]), one.median_final_history_len,
    ]),
  }
}
