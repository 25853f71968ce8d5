// What differs in the setup of the compared agents: models, data, costs and fills.
import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { job as jobQuery, jobResults } from '@/server/queries'
import type { ComparedItem, ComparedPair, Job, RangeResult } from '@/server/types'
import { conventionsText } from '@/shared/conventions'
import { ABSENT, type Format, useFormat } from '@/shared/format'
import { type Translate, useText, useWord } from '@/shared/i18n'
import { tradedOf } from '@/shared/symbols'
import { TableFrame } from '@/shared/ui/table'
import { Failed, Loading } from '@/shared/ui/states'
import css from './compare.module.css'
import { ItemHead } from './MetricsView'
import { codeText } from './words'

interface Agent {
  item: ComparedItem
  job: Job
  result: RangeResult | undefined
}

interface Row {
  /** The name in files. */
  key: string
  name: string
  values: string[]
}

export function SetupView({ items, pair }: { items: ComparedItem[]; pair: ComparedPair | undefined }) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  const [showsAll, setShowsAll] = useState(false)
  // All trials of an experiment have the same setup.
  const selected = items.filter((item) => item.kind === 'agent' && item.job_ids.length > 0)
  const jobs = useQueries({ queries: selected.map((item) => jobQuery(item.job_ids[0] ?? '')) })
  const results = useQueries({ queries: selected.map((item) => jobResults(item.job_ids[0] ?? '')) })
  if (selected.length === 0) return null
  const error = jobs.find((one) => one.error)?.error
  const agents = selected.flatMap((item, index): Agent[] => {
    const job = jobs[index]?.data
    return job ? [{ item, job, result: results[index]?.data?.results.find((one) => one.model === item.agent) }] : []
  })
  const rows = rowsOf(agents, t, word, format)
  const differing = rows.filter((row) => new Set(row.values).size > 1)
  const visible = showsAll || agents.length < 2 ? rows : differing
  return (
    <section className="panel" aria-label={t('compare.setup')}>
      <div className="panel-head">
        <h2>{t('compare.setup')}</h2>
        <span className="second grow">{pair && pair.mismatches.length > 0 ? t('compare.setup.mismatches', { what: pair.mismatches.map((one) => codeText('compare.what', one.what, t)).join(t('compare.separator')) }) : ''}</span>
        {agents.length > 1 && (
          <label className="check">
            <input type="checkbox" checked={showsAll} onChange={() => setShowsAll(!showsAll)} />
            {t('compare.setup.all')}
          </label>
        )}
      </div>
      {error && agents.length === 0 ? (
        <Failed error={error} />
      ) : agents.length < selected.length ? (
        <Loading rows={4} />
      ) : visible.length === 0 ? (
        <p className="panel-body second">{t('compare.setup.same')}</p>
      ) : (
        <TableFrame label={t('compare.setup')} name="comparison-setup" csv={() => ({ columns: ['setting', ...agents.map(({ item }) => item.id)], rows: rows.map((row) => [row.key, ...row.values.map((value) => (value === ABSENT ? null : value))]) })}>
          <table className={`grid-table ${css.sides} ${css.texts}`}>
            <thead>
              <tr>
                <th>
                  <span className="hidden-label">{t('compare.setup')}</span>
                </th>
                {agents.map(({ item, job }) => (
                  <th key={item.id} scope="col">
                    <ItemHead item={item} run={job.labels.name} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {visible.map((row) => (
                <tr key={row.name}>
                  <th scope="row">{row.name}</th>
                  {row.values.map((value, index) => (
                    <td key={agents[index]?.item.id ?? index} className={css.value}>
                      {value}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </TableFrame>
      )}
    </section>
  )
}

function rowsOf(agents: Agent[], t: Translate, word: ReturnType<typeof useWord>, format: Format): Row[] {
  const row = (key: string, name: string, value: (agent: Agent) => string | null | undefined): Row => ({ key, name, values: agents.map((agent) => value(agent) ?? ABSENT) })
  const own = ({ item, job }: Agent) => job.simulation?.agents.find((agent) => agent.name === item.agent)
  const metrics = ({ result }: Agent) => result?.period_metrics
  return [
    row('model', t('new.model'), (agent) => own(agent)?.model),
    row('kind', t('new.kind'), (agent) => word('kind', own(agent)?.kind ?? '')),
    row('decides', t('compare.setup.decides'), (agent) => (own(agent) ? t(own(agent)?.is_llm ? 'compare.setup.llm' : 'house.tag') : null)),
    row('dataset', t('setup.dataset'), ({ job }) => job.simulation && `${job.simulation.dataset.name} (${job.simulation.dataset.hash.slice(0, 12)})`),
    row('market', t('setup.market'), ({ job }) => job.simulation && word('market', job.simulation.market)),
    row('symbols', t('setup.symbols'), ({ job }) => job.simulation && tradedOf(job.simulation, t)),
    row('period', t('setup.span'), ({ item }) => format.span(item.start_date, item.end_date)),
    row('initial_cash', t('setup.cash'), ({ job }) => format.money(job.simulation?.initial_cash, job.simulation?.market)),
    row('fill', t('compare.what.fill'), ({ result }) => result?.conventions?.fill_label),
    row('costs', t('new.costs'), ({ result }) => result?.conventions && conventionsText(result.conventions, t)),
    row('costs_paid', t('compare.setup.paid'), (agent) => format.money(metrics(agent)?.costs, agent.job.simulation?.market)),
    row('turnover', t('metric.turnover'), (agent) => format.ratio(metrics(agent)?.turnover)),
    row('exposure', t('metric.exposure'), (agent) => format.percent(metrics(agent)?.exposure, 1)),
    row('memory', t('setup.memory'), ({ job }) => job.simulation && `${word('memory', job.simulation.memory)} · ${t('setup.window', { rounds: job.simulation.read_window, loss: job.simulation.read_window_after_loss })}`),
    row('memory_from', t('setup.memory.from'), ({ job }) => job.simulation?.memory_from),
    row('branch', t('run.branch'), ({ job }) => job.simulation?.branch && t('run.branch.of', { date: format.day(job.simulation.branch.date), at: job.simulation.branch.at })),
    row('seed', t('setup.seed'), ({ job }) => job.simulation && String(job.simulation.seed)),
    row('rules_version', t('setup.rules'), ({ job }) => String(job.rules_version)),
  ].filter((one) => one.values.some((value) => value !== ABSENT))
}

