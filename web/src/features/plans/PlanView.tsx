// One plan: its tasks, what works on it, and what can be done with it.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { Plan, PlanJob } from '@/server/actions'
import { useLiveJob } from '@/server/live'
import { plan as planQuery, planJobs, tasks } from '@/server/queries'
import { hasStopped } from '@/server/types'
import { usePlanWrites } from '@/server/writes'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { Confirm } from '@/shared/ui/dialog'
import { Icon } from '@/shared/ui/icons'
import { StatusMark } from '@/shared/ui/parts'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { JobLogPanel } from '../joblog/JobLogPanel'
import { PlanForm } from './PlanForm'
import { TaskForm } from './TaskForm'
import { TaskTree } from './TaskTree'

interface Props {
  id: number
  job: string | undefined
  onJob: (job: string | undefined) => void
  onGone: () => void
}

export function PlanView({ id, job, onJob, onGone }: Props) {
  const t = useText()
  const found = useQuery(planQuery(id))
  const tree = useQuery(tasks(id))
  const work = useQuery(planJobs(id))
  const { run } = usePlanWrites()
  const [adding, setAdding] = useState(false)
  const jobs = work.data ?? []
  const under = jobs.find((one) => !hasStopped(one.status))?.job_id
  useChanging(id, under)
  const start = (what: 'decompose' | 'execute', task?: number) => run.mutate({ id, what, ...(task === undefined ? {} : { task }) }, { onSuccess: (begun) => onJob(begun.job_id) })

  if (found.isPending) return <Loading />
  if (found.error && !found.data) return <Failed error={found.error} retry={() => void found.refetch()} />
  if (!found.data) return <Empty title={t('plans.missing')} />
  return (
    <div className="stack sections grow">
      <section className="panel" aria-label={found.data.name}>
        <Head plan={found.data} busy={run.isPending || under !== undefined} onStart={start} onGone={onGone} />
        {run.error && (
          <div className="panel-body">
            <Failed error={run.error} />
          </div>
        )}
        {tree.isPending && <Loading rows={4} />}
        {tree.error && !tree.data && <Failed error={tree.error} retry={() => void tree.refetch()} />}
        {tree.data?.length === 0 && !adding && (
          <Empty title={t('plans.no.tasks')}>
            <p className="second">{t('plans.no.tasks.why')}</p>
          </Empty>
        )}
        {tree.data && tree.data.length > 0 && <TaskTree plan={id} tasks={tree.data} onStart={start} />}
        <div className="panel-body">
          {adding ? (
            <TaskForm plan={id} tasks={tree.data ?? []} parent={null} onClose={() => setAdding(false)} />
          ) : (
            <button type="button" className="button small" onClick={() => setAdding(true)}>
              <Icon name="plus" />
              {t('task.add')}
            </button>
          )}
        </div>
      </section>
      <Work jobs={jobs} chosen={job} onJob={onJob} />
      {job !== undefined && <JobLogPanel key={job} jobId={job} planId={id} />}
    </div>
  )
}

/** Asks for the plan again whenever the job that works on it tells of something. */
function useChanging(plan: number, job: string | undefined): void {
  const client = useQueryClient()
  // The stream makes what is known of the job old; the plan is as old as that.
  useLiveJob(job ?? '', job !== undefined, ['plan', plan])
  // And once more when it has ended.
  useEffect(() => () => void client.invalidateQueries({ queryKey: ['plans'] }), [client, job])
}

interface HeadProps {
  plan: Plan
  busy: boolean
  onStart: (what: 'decompose' | 'execute') => void
  onGone: () => void
}

function Head({ plan, busy, onStart, onGone }: HeadProps) {
  const t = useText()
  const { remove } = usePlanWrites()
  const [asks, setAsks] = useState(false)
  const [edits, setEdits] = useState(false)
  return (
    <>
      <div className="panel-head">
        <h2 className="clip">{plan.name}</h2>
        <StatusMark status={plan.tasks === 0 ? 'draft' : plan.status} />
        {plan.chat_session_id && (
          <Link to="/app/chat" search={{ session: plan.chat_session_id }} className="tag">
            <Icon name="chat" />
            {t('plans.chat')}
          </Link>
        )}
        <span className="grow" />
        <button type="button" className="button small" aria-expanded={edits} onClick={() => setEdits(!edits)}>
          {t('action.edit')}
        </button>
        <button type="button" className="button small danger" onClick={() => setAsks(true)}>
          {t('plans.remove')}
        </button>
        <button type="button" className="button small" disabled={busy} title={t('plans.decompose.what')} onClick={() => onStart('decompose')}>
          {t('plans.decompose')}
        </button>
        <button type="button" className="button small primary" disabled={busy || plan.tasks === 0} onClick={() => onStart('execute')}>
          <Icon name="play" />
          {t('plans.execute')}
        </button>
      </div>
      {edits ? (
        <div className="panel-body">
          <PlanForm plan={plan} onClose={() => setEdits(false)} />
        </div>
      ) : (
        plan.goal !== '' && <p className="panel-body second">{plan.goal}</p>
      )}
      {remove.error && (
        <div className="panel-body">
          <Failed error={remove.error} />
        </div>
      )}
      {asks && <Confirm title={t('plans.remove.sure', { name: plan.name })} what={t('plans.remove.what')} action={t('plans.remove')} onYes={() => remove.mutate(plan.id, { onSuccess: onGone })} onClose={() => setAsks(false)} />}
    </>
  )
}

/** The jobs that have worked on a plan, the newest first. */
function Work({ jobs, chosen, onJob }: { jobs: PlanJob[]; chosen: string | undefined; onJob: Props['onJob'] }) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  if (jobs.length === 0) return null
  return (
    <section className="panel" aria-label={t('plans.work')}>
      <div className="panel-head">
        <h2>{t('plans.work')}</h2>
        <span className="quiet">{t('plans.work.what')}</span>
      </div>
      <div className="list plan-jobs">
        {jobs.map((one) => (
          <button key={one.job_id} type="button" className="list-item" aria-pressed={one.job_id === chosen} onClick={() => onJob(one.job_id === chosen ? undefined : one.job_id)}>
            <span className="row">
              <StatusMark status={one.status} /> {word('kind', one.job_type)} <small className="quiet">{format.instant(one.created_at)}</small>
            </span>
          </button>
        ))}
      </div>
    </section>
  )
}
