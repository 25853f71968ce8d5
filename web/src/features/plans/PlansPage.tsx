// Plans: trees of tasks that the assistant works through.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import type { Plan, PlanJob } from '@/server/actions'
import { plan as planQuery, planJobs, plans, tasks } from '@/server/queries'
import { usePlanWrites } from '@/server/writes'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { Icon } from '@/shared/ui/icons'
import { StatusMark } from '@/shared/ui/parts'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { JobLogPanel } from '../joblog/JobLogPanel'
import { TaskTree } from './TaskTree'

export function PlansPage() {
  const t = useText()
  const format = useFormat()
  const navigate = useNavigate({ from: '/app/plans' })
  const search = useSearch({ from: '/app/plans' })
  const found = useQuery(plans())
  const all = found.data?.plans ?? []
  return (
    <div className="page">
      <div className="page-head">
        <div className="grow">
          <h1>{t('nav.plans')}</h1>
          <p className="second">{t('plans.what')}</p>
        </div>
      </div>
      {found.isPending && <Loading />}
      {found.error && <Failed error={found.error} retry={() => void found.refetch()} />}
      {found.data === null && (
        <Empty title={t('chat.absent')}>
          <p className="second">{t('chat.absent.why')}</p>
        </Empty>
      )}
      {found.data && (
        <div className="split">
          <nav className="panel list" aria-label={t('nav.plans')}>
            <NewPlan onMade={(id) => void navigate({ search: { plan: id } })} />
            {all.length === 0 && <p className="panel-body second">{t('plans.none')}</p>}
            {all.map((one) => (
              <button key={one.id} type="button" className="list-item" aria-current={one.id === search.plan ? 'true' : undefined} onClick={() => void navigate({ search: { plan: one.id } })}>
                <b className="clip">{one.name}</b>
                <span className="row">
                  <StatusMark status={one.status} />
                  <small className="quiet">{format.instant(one.updated_at)}</small>
                </span>
              </button>
            ))}
          </nav>
          {search.plan !== undefined && <PlanView key={search.plan} id={search.plan} job={search.job} onJob={(job) => void navigate({ search: (now) => ({ ...now, job }), replace: true })} onGone={() => void navigate({ search: {} })} />}
        </div>
      )}
    </div>
  )
}

function NewPlan({ onMade }: { onMade: (id: number) => void }) {
  const t = useText()
  const { create } = usePlanWrites()
  const [name, setName] = useState('')
  const [goal, setGoal] = useState('')
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() === '') return
    create.mutate({ name: name.trim(), goal: goal.trim() }, {
        onSuccess: (made) => {
          setName('')
          setGoal('')
          onMade(made.plan.id)
        },
      })
  }
  return (
    <form className="panel-body stack" onSubmit={send}>
      <input className="input" value={name} placeholder={t('plans.name')} aria-label={t('plans.name')} onChange={(event) => setName(event.target.value)} />
      <textarea className="input" rows={2} value={goal} placeholder={t('plans.goal')} aria-label={t('plans.goal')} onChange={(event) => setGoal(event.target.value)} />
      <button type="submit" className="button" disabled={create.isPending || name.trim() === ''}>
        <Icon name="plus" />
        {t('plans.make')}
      </button>
      {create.error && <span className="down">{create.error.message}</span>}
    </form>
  )
}

interface PlanProps {
  id: number
  job: string | undefined
  onJob: (job: string | undefined) => void
  onGone: () => void
}

function PlanView({ id, job, onJob, onGone }: PlanProps) {
  const t = useText()
  // While one of its jobs is looked at, the plan may change under it.
  const refetchInterval = job === undefined ? false : 2000
  const found = useQuery({ ...planQuery(id), refetchInterval })
  const tree = useQuery({ ...tasks(id), refetchInterval })
  const work = useQuery({ ...planJobs(id), refetchInterval })
  const { run, remove } = usePlanWrites()
  const plan: Plan | undefined = found.data?.plan
  const start = (what: 'decompose' | 'execute') => run.mutate({ id, what }, { onSuccess: (begun) => onJob(begun.job_id) })
  if (found.isPending) return <Loading />
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} />
  if (!plan) return <Empty title={t('plans.missing')} />
  const remover = () => {
    if (window.confirm(t('plans.remove.sure', { name: plan.name }))) remove.mutate(id, { onSuccess: onGone })
  }
  return (
    <div className="stack sections grow">
      <section className="panel" aria-label={plan.name}>
        <div className="panel-head">
          <h2>{plan.name}</h2>
          <StatusMark status={plan.status} />
          <span className="grow" />
          <button type="button" className="button small" disabled={run.isPending} onClick={() => start('decompose')}>
            {t('plans.decompose')}
          </button>
          <button type="button" className="button small primary" disabled={run.isPending} onClick={() => start('execute')}>
            {t('plans.execute')}
          </button>
          <button type="button" className="button small danger" onClick={remover}>
            {t('plans.remove')}
          </button>
        </div>
        <div className="panel-body stack">
          {plan.goal && <p>{plan.goal}</p>}
          {(run.error ?? remove.error) && <Failed error={run.error ?? remove.error} />}
        </div>
        {tree.isPending && <Loading rows={4} />}
        {tree.error && <Failed error={tree.error} retry={() => void tree.refetch()} />}
        {tree.data && (tree.data.tasks.length === 0 ? <Empty title={t('plans.no.tasks')} /> : <TaskTree tasks={tree.data.tasks} />)}
      </section>
      <Work jobs={work.data?.jobs ?? []} chosen={job} onJob={onJob} />
      {job !== undefined && <JobLogPanel jobId={job} planId={id} />}
    </div>
  )
}

/** The jobs that have worked on a plan, the newest first. */
function Work({ jobs, chosen, onJob }: { jobs: PlanJob[]; chosen: string | undefined; onJob: PlanProps['onJob'] }) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  if (jobs.length === 0) return null
  return (
    <section className="panel" aria-label={t('plans.work')}>
      <div className="panel-head">
        <h2>{t('plans.work')}</h2>
      </div>
      <div className="list plan-jobs">
        {jobs.map((one) => (
          <button key={one.job_id} type="button" className="list-item" aria-current={one.job_id === chosen ? 'true' : undefined} onClick={() => onJob(one.job_id === chosen ? undefined : one.job_id)}>
            <span className="row">
              <StatusMark status={one.status} /> {word('kind', one.job_type)} <small className="quiet">{format.instant(one.created_at)}</small>
            </span>
          </button>
        ))}
      </div>
    </section>
  )
}
