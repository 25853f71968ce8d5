// The selected items, and what is declared about the comparison.
import { useInfiniteQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { experiments as experimentsQuery } from '@/server/judging'
import { jobs as jobsQuery } from '@/server/queries'
import type { ExperimentSummary, Job } from '@/server/types'
import { type Format, useFormat } from '@/shared/format'
import { shortId } from '@/shared/ids'
import { textOr, type Translate, useText } from '@/shared/i18n'
import { datedRunTitle, runTitle } from '@/shared/runTitle'
import { Icon } from '@/shared/ui/icons'
import css from './compare.module.css'
import { agentItem, BASELINES, type CompareSearch, listOf, MAX_ITEMS, parentOf, parseItem, toggled, VARIED } from './select'

interface Props {
  items: string[]
  search: CompareSearch
  onChange: (part: Partial<CompareSearch>) => void
}

export function Picker({ items, search, onChange }: Props) {
  const t = useText()
  const runs = useInfiniteQuery(jobsQuery({ kind: 'simulate' }))
  const planned = useInfiniteQuery(experimentsQuery())
  const jobs = runs.data?.pages.flatMap((page) => page.jobs) ?? []
  const experiments = planned.data?.pages.flatMap((page) => page.experiments) ?? []
  const select = (next: string[]) => onChange({ select: next.join(',') || undefined, pair: undefined, ...(search.against !== undefined && !next.includes(search.against) && { against: undefined }) })
  const varied = listOf(search.vary)
  const parent = parentOf(items, jobs)
  return (
    <section className={`panel panel-body ${css.picker}`} aria-label={t('compare.items')}>
      <div className="row wrap">
        {items.map((item) => (
          <Chip key={item} item={item} jobs={jobs} experiments={experiments} onRemove={() => select(toggled(items, item))} />
        ))}
        {items.length < MAX_ITEMS ? (
          <Add items={items} jobs={jobs} experiments={experiments} more={runs.hasNextPage ? () => void runs.fetchNextPage() : undefined} onAdd={(item) => select([...items, item])} />
        ) : (
          <span className="quiet">{t('compare.full', { count: MAX_ITEMS })}</span>
        )}
        {parent && items.length < MAX_ITEMS && (
          <button type="button" className="button small" onClick={() => select([parent, ...items])}>
            <Icon name="branch" />
            {t('compare.parent')}
          </button>
        )}
      </div>
      {items.length > 1 && (
        <div className={css.options}>
          <label className="row">
            <span className="label nowrap">{t('compare.against')}</span>
            <select className="select short" value={search.against ?? ''} onChange={(event) => onChange({ against: event.target.value || undefined, pair: undefined })}>
              <option value="">{t('compare.against.none')}</option>
              {[...new Set([...(search.against ? [search.against] : []), ...items])].map((item) => (
                <option key={item} value={item}>
                  {labelOf(item, jobs, experiments, t)}
                </option>
              ))}
            </select>
          </label>
          <fieldset className="row wrap">
            <legend className="hidden-label">{t('compare.vary')}</legend>
            <span className="label" aria-hidden="true">
              {t('compare.vary')}
            </span>
            {VARIED.map((what) => (
              <label key={what} className="chip" title={t(`compare.vary.${what}.what`)}>
                <input type="checkbox" checked={varied.includes(what)} onChange={() => onChange({ vary: toggled(varied, what).join(',') || undefined })} />
                {t(`compare.vary.${what}`)}
              </label>
            ))}
          </fieldset>
          <label className="row" title={t('compare.target.what')}>
            <span className="label">{t('compare.target')}</span>
            <select className="select short" value={search.points ?? 10} onChange={(event) => onChange({ points: event.target.value === '10' ? undefined : Number(event.target.value) })}>
              {[...new Set([2, 5, 10, 20, 50, search.points ?? 10])]
                .sort((a, b) => a - b)
                .map((value) => (
                  <option key={value} value={value}>
                    {t('compare.target.value', { value })}
                  </option>
                ))}
            </select>
          </label>
        </div>
      )}
    </section>
  )
}

interface ChipProps {
  item: string
  jobs: Job[]
  experiments: ExperimentSummary[]
  onRemove: () => void
}

function Chip({ item, jobs, experiments, onRemove }: ChipProps) {
  const t = useText()
  const label = labelOf(item, jobs, experiments, t)
  return (
    <span className={css.chip} title={item}>
      <span className="clip">{label}</span>
      <button type="button" aria-label={t('compare.remove', { item: label })} onClick={onRemove}>
        <Icon name="close" />
      </button>
    </span>
  )
}

/** An item's short name; of a run, with its name or ID. */
function labelOf(item: string, jobs: Job[], experiments: ExperimentSummary[], t: Translate): string {
  const { kind, id, agent } = parseItem(item)
  if (kind === 'latest') return t('compare.item.latest')
  if (kind === 'baseline') return textOr(t, `compare.item.${id}`, id)
  if (kind === 'symbol') return id
  const job = kind === 'job' ? jobs.find((one) => one.job_id === id) : undefined
  const known = job?.simulation?.agents.map((one) => one.name) ?? experiments.find((one) => kind === 'experiment' && one.experiment_id === id)?.agents
  const name = agent ?? known?.join(', ')
  // Unnamed runs mostly trade the same: their IDs differ.
  const of = kind === 'experiment' ? t('compare.item.experiment', { id: shortId(id) }) : job?.labels.name ? runTitle(job, t) : shortId(id)
  return name === undefined ? of : `${name} · ${of}`
}

interface AddProps {
  items: string[]
  jobs: Job[]
  experiments: ExperimentSummary[]
  /** Loads older runs. */
  more: (() => void) | undefined
  onAdd: (item: string) => void
}

const MORE = 'more'

function Add({ items, jobs, experiments, more, onAdd }: AddProps) {
  const t = useText()
  const format = useFormat()
  const id = useId()
  const symbols = symbolsOf(items, jobs)
  const free = (item: string) => !items.includes(item)
  const pick = (value: string) => (value === MORE ? more?.() : onAdd(value))
  return (
    <>
      <label className="hidden-label" htmlFor={id}>
        {t('compare.add')}
      </label>
      <select id={id} className="select short" value="" onChange={(event) => event.target.value !== '' && pick(event.target.value)}>
        <option value="">{t('compare.add')}</option>
        <optgroup label={t('compare.add.baselines')}>
          {BASELINES.filter(free).map((item) => (
            <option key={item} value={item}>
              {labelOf(item, jobs, experiments, t)}
            </option>
          ))}
          {symbols.filter((symbol) => free(`symbol:${symbol}`)).map((symbol) => (
            <option key={symbol} value={`symbol:${symbol}`}>
              {t('compare.item.symbol', { symbol })}
            </option>
          ))}
        </optgroup>
        {experiments.length > 0 && (
          <optgroup label={t('nav.experiments')}>
            {experiments.filter((one) => free(`experiment:${one.experiment_id}`)).map((one) => (
              <option key={one.experiment_id} value={`experiment:${one.experiment_id}`}>
                {`${one.agents.join(', ')} · ${format.span(one.start_date, one.planned_last_day)} · ${t('experiment.trials', { count: one.trials })} · ${shortId(one.experiment_id)}`}
              </option>
            ))}
          </optgroup>
        )}
        {jobs.map((job) => (
          <JobOptions key={job.job_id} job={job} free={free} format={format} t={t} />
        ))}
        {more && <option value={MORE}>{t('compare.add.older')}</option>}
      </select>
    </>
  )
}

function JobOptions({ job, free, format, t }: { job: Job; free: (item: string) => boolean; format: Format; t: Translate }) {
  if (!job.simulation) return null
  const { simulation } = job
  const agents = simulation.agents.filter((agent) => free(agentItem(job.job_id, agent.name)))
  if (agents.length === 0) return null
  return (
    <optgroup label={`${datedRunTitle(job, format, t)} · ${shortId(job.job_id)}`}>
      {agents.map((agent) => (
        <option key={agent.name} value={agentItem(job.job_id, agent.name)}>
          {agent.is_llm ? agent.name : `${agent.name} (${t('house.tag')})`}
        </option>
      ))}
    </optgroup>
  )
}

/** The symbols of the selected runs, which are candidates for a comparison with one of them. */
function symbolsOf(items: string[], jobs: Job[]): string[] {
  const selected = jobs.find((job) => items.some((item) => parseItem(item).id === job.job_id)) ?? jobs[0]
  const simulation = selected?.simulation
  return simulation ? [...new Set([...(simulation.benchmark ? [simulation.benchmark] : []), ...simulation.symbols.slice(0, 30)])] : []
}
