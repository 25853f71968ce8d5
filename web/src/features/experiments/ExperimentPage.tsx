// One experiment: its plan, budget, jobs, and every trial with mean and spread.
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { experiment as experimentQuery } from '@/server/judging'
import type { Experiment } from '@/server/types'
import { useFormat } from '@/shared/format'
import { textOr, useText } from '@/shared/i18n'
import { shortId } from '@/shared/ids'
import { isMissing } from '@/shared/missing'
import { useTitle } from '@/shared/title'
import { HouseTag, Pairs, Stat, StatusMark, Tag } from '@/shared/ui/parts'
import { Operate } from '@/shared/ui/operate'
import { useCost } from '@/shared/ui/quality'
import { Empty, Failed, Loading, Note } from '@/shared/ui/states'
import { ExperimentControls } from './ExperimentControls'
import { JobsTable } from './JobsTable'
import { ProgressBar } from './ProgressBar'
import { Trials } from './Trials'

export function ExperimentPage() {
  const t = useText()
  const { experimentId } = useParams({ from: '/app/experiments/$experimentId' })
  const query = useQuery(experimentQuery(experimentId))
  useTitle(`${t('experiment.title')} ${shortId(experimentId)}`)
  if (query.isPending) {
    return (
      <div className="page">
        <Loading rows={10} />
      </div>
    )
  }
  if (isMissing(query.error)) {
    return (
      <div className="page">
        <Empty title={t('experiment.missing')} isPage>
          <Link to="/app/experiments">{t('experiment.all')}</Link>
        </Empty>
      </div>
    )
  }
  if (!query.data) {
    return (
      <div className="page">
        <Failed error={query.error} retry={() => void query.refetch()} />
      </div>
    )
  }
  return <Loaded found={query.data} />
}

function Loaded({ found }: { found: Experiment }) {
  const t = useText()
  const { experiment } = found
  return (
    <div className="page">
      <Head found={found} />
      {experiment.interim && (
        <Note kind="warn" title={t('experiment.interim.what')}>
          <span lang="en">{experiment.interim}</span>
        </Note>
      )}
      <Trials experiment={experiment} />
      <JobsTable jobs={found.jobs} windows={found.manifest.windows} />
      <Plan found={found} />
    </div>
  )
}

function Head({ found }: { found: Experiment }) {
  const t = useText()
  const format = useFormat()
  const cost = useCost()
  const { experiment, budget } = found
  const { usage } = experiment
  const spent = [
    ...(budget.usd == null ? [] : [t('experiment.budget.spent', { spent: cost(usage), limit: format.cost(budget.usd) })]),
    ...(budget.tokens == null ? [] : [t('experiment.budget.spent', { spent: format.compact(usage.input_tokens + usage.output_tokens), limit: t('experiment.budget.tokens.count', { count: format.compact(budget.tokens) }) })]),
  ]
  return (
    <div className="page-head">
      <div className="grow">
        <div className="crumbs">
          <Link to="/app/experiments">{t('nav.experiments')}</Link>
          <span>/</span>
          <span className="mono">{experiment.experiment_id}</span>
        </div>
        <h1>
          {experiment.agents.join(', ')} <span className="second tnum title-span">{format.span(experiment.start_date, experiment.planned_last_day)}</span>
        </h1>
        <div className="facts">
          <StatusMark status={experiment.status} />
          {experiment.interim && <Tag kind="warn">{t('experiment.interim')}</Tag>}
          <span>{t('experiment.plan', { trials: experiment.trials, windows: experiment.windows })}</span>
          <span className="tnum">{t('experiment.jobs.of', { done: experiment.completed_jobs, planned: experiment.planned_jobs })}</span>
          <ProgressBar progress={experiment.progress} />
          <span className="tnum">{t('runs.days.of', { done: experiment.progress.completed + experiment.progress.skipped, total: experiment.progress.total_model_days })}</span>
        </div>
      </div>
      <dl className="figures">
        <Stat name={t('experiment.spent')} value={cost(usage)} note={`${format.compact(usage.input_tokens)} → ${format.compact(usage.output_tokens)}`} title={usage.estimated_calls > 0 ? t('run.estimated', { count: usage.estimated_calls }) : undefined} />
        <Stat name={t('experiment.budget')} value={spent.length > 0 ? spent.join(' · ') : t('experiment.budget.none')} />
      </dl>
      <div className="row wrap">
        <Link to="/app/compare" search={{ select: compareItems(found) }} className="button primary">
          {t('experiment.compare')}
        </Link>
        <Operate>
          <ExperimentControls experiment={experiment} budget={budget} />
        </Operate>
      </div>
    </div>
  )
}

/** The experiment, and the baseline that it declares. */
function compareItems({ experiment, manifest }: Experiment): string {
  const own = `experiment:${experiment.experiment_id}`
  return manifest.compare === 'buy_and_hold' || experiment.agents.length < 2 ? `${own},baseline:buy_and_hold` : own
}

function Plan({ found }: { found: Experiment }) {
  const t = useText()
  const format = useFormat()
  const { manifest, experiment } = found
  const compares = manifest.compare === 'all_pairs' ? t('experiment.compares.all_pairs') : t('experiment.compares.against', { against: manifest.compare === 'buy_and_hold' ? t('baseline.hold') : manifest.compare })
  return (
    <section className="panel" aria-label={t('experiment.hash')}>
      <div className="panel-body">
        <Pairs
          rows={[
            [
              t('experiment.agents'),
              manifest.agents.map((agent) => (
                <div key={agent.name} className="row wrap">
                  {agent.name} <HouseTag isLlm={agent.is_llm} />
                  <span className="second">
                    {t('experiment.trials', { count: agent.trials })} · {textOr(t, `experiment.varies.${agent.varies_by}`, agent.varies_by)}
                  </span>
                  {agent.note && (
                    <span className="quiet" lang="en">
                      {agent.note}
                    </span>
                  )}
                </div>
              )),
            ],
            [t('experiment.compares'), compares],
            [t('experiment.last'), format.day(manifest.planned_last_day)],
            [
              t('experiment.hash'),
              <code key="hash" title={found.manifest_hash}>
                {found.manifest_hash.slice(0, 16)}
              </code>,
            ],
            [t('setup.created'), format.instant(experiment.created_at)],
          ]}
        />
      </div>
    </section>
  )
}
