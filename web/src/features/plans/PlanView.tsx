// One plan: its tasks, jobs and actions.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { Plan, PlanJob, Task } from '@/server/actions'
import { useLiveJob } from '@/server/live'
import { plan as planQuery, planJobs, tasks } from '@/server/queries'
import { hasStopped } from '@/server/types'
import { usePlanWrites } from '@/server/writes'
import type { TableData } from '@/shared/csv'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { Confirm } from '@/shared/ui/dialog'
import { ExportMenu } from '@/shared/ui/exportMenu'
import { Icon } from '@/shared/ui/icons'
import { Operate } from '@/shared/ui/operate'
import { StatusMark } from '@/shared/ui/parts'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { JobLogPanel } from '../jobLog/JobLogPanel'
import { PlanForm } from './PlanForm'
import { TaskForm } from './TaskForm'
import { TaskTree } from './TaskTree'
import { inTreeOrder } from './tree'

interface Props {
  id: number
  job: string | undefined
  onJob: (job: string | undefined) => void
  onDeleted: () => void
}

export function PlanView({ id, job, onJob, onDeleted }: Props) {
  const t = useText()
  const query = useQuery(planQuery(id))
  const tree = useQuery(tasks(id))
  const jobsQuery = useQuery(planJobs(id))
  const { run } = usePlanWrites()
  const [adding, setAdding] = useState(false)
  const jobs = jobsQuery.data ?? []
  const runningJob = jobs.find((one) => !hasStopped(one.status))?.job_id
  useRefresh(id, runningJob)
  const start = (what: 'decompose' | 'execute', task?: number) => run.mutate({ id, what, ...(task === undefined ? {} : { task }) }, { onSuccess: (queued) => onJob(queued.job_id) })

  if (query.isPending) return <Loading />
  if (query.error && !query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  if (!query.data) return <Empty title={t('plans.missing')} />
  return (
    <div className="stack sections grow">
      <section className="panel" aria-label={query.data.name}>
        <Head plan={query.data} tasks={tree.data ?? []} busy={run.isPending || runningJob !== undefined} onStart={start} onDeleted={onDeleted} />
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
        <Operate>
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
        </Operate>
      </section>
      <Jobs jobs={jobs} selected={job} onJob={onJob} />
      {job !== undefined && <JobLogPanel key={job} jobId={job} planId={id} />}
    </div>
  )
}

/** The tasks in the order of the tree. */
function fileOf(tasks: Task[]): TableData {
  return {
    columns: ['task_id', 'parent_id', 'depth', 'position', 'name', 'status', 'dependencies', 'instruction', 'result', 'created_at', 'updated_at'],
    rows: inTreeOrder(tasks).map((task) => [
      task.id, task.parent_id, task.depth, task.position, task.name, task.status, task.dependencies.join(' '), task.instruction,
      task.execution_result == null ? null : typeof task.execution_result === 'string' ? task.execution_result : JSON.stringify(task.execution_result), task.created_at, task.updated_at,
    ]),
  }
}

/** Refetches the plan whenever its running job reports a change. */
function useRefresh(plan: number, job: string | undefined): void {
  const client = useQueryClient()
  // A change of the job invalidates the plan.
  useLiveJob(job ?? '', job !== undefined, ['plan', plan])
  // Refetch again when the job has ended.
  useEffect(() => () => void client.invalidateQueries({ queryKey: ['plans'] }), [client, job])
}

interface HeadProps {
  plan: Plan
  tasks: Task[]
  busy: boolean
  onStart: (what: 'decompose' | 'execute') => void
  onDeleted: () => void
}

function Head({ plan, tasks, busy, onStart, onDeleted }: HeadProps) {
  const t = useText()
  const { remove } = usePlanWrites()
  const [confirming, setConfirming] = useState(false)
  const [editing, setEditing] = useState(false)
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
        {tasks.length > 0 && <ExportMenu what={t('plans.tasks', { count: tasks.length })} name={`plan-${plan.id}-tasks`} csv={() => fileOf(tasks)} />}
        <Operate>
          <button type="button" className="button small" aria-expanded={editing} onClick={() => setEditing(!editing)}>
            {t('action.edit')}
          </button>
          <button type="button" className="button small danger" onClick={() => setConfirming(true)}>
            {t('plans.remove')}
          </button>
          <button type="button" className="button small" disabled={busy} title={t('plans.decompose.what')} onClick={() => onStart('decompose')}>
            {t('plans.decompose')}
          </button>
          <button type="button" className="button small primary" disabled={busy || plan.tasks === 0} onClick={() => onStart('execute')}>
            <Icon name="play" />
            {t('plans.execute')}
          </button>
        </Operate>
      </div>
      {editing ? (
        <div className="panel-body">
          <PlanForm plan={plan} onClose={() => setEditing(false)} />
        </div>
      ) : (
        plan.goal !== '' && <p className="panel-body second">{plan.goal}</p>
      )}
      {remove.error && (
        <div className="panel-body">
          <Failed error={remove.error} />
        </div>
      )}
      {confirming && <Confirm title={t('plans.remove.sure', { name: plan.name })} description={t('plans.remove.what')} action={t('plans.remove')} onConfirm={() => remove.mutate(plan.id, { onSuccess: onDeleted })} onClose={() => setConfirming(false)} />}
    </>
  )
}

/** The jobs of a plan, newest first. */
function Jobs({ jobs, selected, onJob }: { jobs: PlanJob[]; selected: string | undefined; onJob: Props['onJob'] }) {
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
          <button key={one.job_id} type="button" className="list-item" aria-pressed={one.job_id === selected} onClick={() => onJob(one.job_id === selected ? undefined : one.job_id)}>
            <span className="row">
              <StatusMark status={one.status} /> {word('kind', one.job_type)} <small className="quiet">{format.instant(one.created_at)}</small>
            </span>
          </button>
        ))}
      </div>
    </section>
  )
}
