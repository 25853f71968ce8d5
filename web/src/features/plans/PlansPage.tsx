// Plans: trees of tasks that the assistant works through.
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { plans } from '@/server/queries'
import { usePlanWrites } from '@/server/writes'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { useNow } from '@/shared/now'
import { useTitle } from '@/shared/title'
import { ExportMenu } from '@/shared/ui/exportMenu'
import { Icon } from '@/shared/ui/icons'
import { Operate } from '@/shared/ui/operate'
import { More, StatusMark } from '@/shared/ui/parts'
import { restOf } from '@/shared/ui/rest'
import { Empty, Example, Failed, Loading } from '@/shared/ui/states'
import { PlanView } from './PlanView'

export function PlansPage() {
  const t = useText()
  const format = useFormat()
  const now = useNow()
  const navigate = useNavigate({ from: '/app/plans' })
  const search = useSearch({ from: '/app/plans' })
  const [creating, setCreating] = useState(false)
  const query = useInfiniteQuery(plans())
  useTitle(t('nav.plans'))
  const all = query.data?.pages.flatMap((page) => page.plans) ?? []
  const made = (id: number) => {
    setCreating(false)
    void navigate({ search: { plan: id } })
  }
  return (
    <div className="page">
      <div className="page-head">
        <div className="grow">
          <h1>{t('nav.plans')}</h1>
          <p className="second">{t('plans.what')}</p>
        </div>
        {all.length > 0 && (
          <ExportMenu
            what={t('nav.plans')}
            name="plans"
            csv={async () => ({
              columns: ['plan_id', 'name', 'goal', 'status', 'tasks', 'chat_session_id', 'created_at', 'updated_at'],
              rows: (await restOf(query, (page) => page.plans).loadAll()).map((one) => [one.id, one.name, one.goal, one.status, one.tasks, one.chat_session_id, one.created_at, one.updated_at]),
            })}
          />
        )}
        <Operate>
          <button type="button" className="button primary" aria-expanded={creating} onClick={() => setCreating(!creating)}>
            <Icon name="plus" />
            {t('plans.new')}
          </button>
        </Operate>
      </div>
      {creating && <NewPlan onCreated={made} onClose={() => setCreating(false)} />}
      {query.isPending && <Loading />}
      {query.error && !query.data && <Failed error={query.error} retry={() => void query.refetch()} />}
      {query.data && all.length === 0 && !creating && (
        <div className="panel">
          <Empty title={t('plans.none')}>
            <p className="second">{t('plans.none.why')}</p>
            <Example>
              <b>{t('example.plan.title')}</b>
              <ol className="rules">
                <li>{t('example.plan.1')}</li>
                <li>{t('example.plan.2')}</li>
                <li>{t('example.plan.3')}</li>
              </ol>
            </Example>
            <Operate>
              <div className="row wrap">
                <button type="button" className="button" onClick={() => setCreating(true)}>
                  {t('plans.new')}
                </button>
                <Link to="/app/chat" search={{}} className="button">
                  {t('plans.ask')}
                </Link>
              </div>
            </Operate>
          </Empty>
        </div>
      )}
      {query.data && (all.length > 0 || search.plan !== undefined) && (
        <div className="split">
          <nav className="panel list" aria-label={t('nav.plans')}>
            {all.map((one) => (
              <Link key={one.id} to="/app/plans" search={{ plan: one.id }} className="list-item plain-link" aria-current={one.id === search.plan ? 'true' : undefined}>
                <b className="clip">{one.name}</b>
                <span className="row second">
                  <StatusMark status={one.tasks === 0 ? 'draft' : one.status} />
                  <span className="tnum">{t('plans.tasks', { count: one.tasks })}</span>
                  <time className="quiet" dateTime={one.updated_at} title={format.instant(one.updated_at)}>
                    {format.ago(one.updated_at, now)}
                  </time>
                </span>
              </Link>
            ))}
            <More has={query.hasNextPage} busy={query.isFetchingNextPage} onMore={() => void query.fetchNextPage()} />
          </nav>
          {search.plan === undefined ? (
            <p className="second panel-body">{t('plans.choose')}</p>
          ) : (
            <PlanView key={search.plan} id={search.plan} job={search.job} onJob={(job) => void navigate({ search: (now) => ({ ...now, job }), replace: true, resetScroll: false })} onDeleted={() => void navigate({ search: {} })} />
          )}
        </div>
      )}
    </div>
  )
}

function NewPlan({ onCreated, onClose }: { onCreated: (id: number) => void; onClose: () => void }) {
  const t = useText()
  const { create } = usePlanWrites()
  const [name, setName] = useState('')
  const [goal, setGoal] = useState('')
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() !== '') create.mutate({ name: name.trim(), goal: goal.trim() }, { onSuccess: (made) => onCreated(made.plan.id) })
  }
  return (
    <form className="panel panel-body stack" onSubmit={send} aria-label={t('plans.new')}>
      {/* The user opened this form to type. */}
      {/* eslint-disable-next-line jsx-a11y/no-autofocus */}
      <input className="input" autoFocus value={name} maxLength={200} placeholder={t('plans.name')} aria-label={t('plans.name')} onChange={(event) => setName(event.target.value)} />
      <textarea className="input" rows={2} value={goal} maxLength={20_000} placeholder={t('plans.goal')} aria-label={t('plans.goal')} onChange={(event) => setGoal(event.target.value)} />
      {create.error && <Failed error={create.error} />}
      <div className="row">
        <button type="submit" className="button primary" disabled={create.isPending || name.trim() === ''}>
          {t('plans.make')}
        </button>
        <button type="button" className="button" onClick={onClose}>
          {t('action.cancel')}
        </button>
      </div>
    </form>
  )
}
