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
import { Icon } from '@/shared/ui/icons'
import { More, StatusMark } from '@/shared/ui/parts'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { PlanView } from './PlanView'

export function PlansPage() {
  const t = useText()
  const format = useFormat()
  const now = useNow()
  const navigate = useNavigate({ from: '/app/plans' })
  const search = useSearch({ from: '/app/plans' })
  const [making, setMaking] = useState(false)
  const found = useInfiniteQuery(plans())
  useTitle(t('nav.plans'))
  const all = found.data?.pages.flatMap((page) => page.plans) ?? []
  const made = (id: number) => {
    setMaking(false)
    void navigate({ search: { plan: id } })
  }
  return (
    <div className="page">
      <div className="page-head">
        <div className="grow">
          <h1>{t('nav.plans')}</h1>
          <p className="second">{t('plans.what')}</p>
        </div>
        <button type="button" className="button primary" aria-expanded={making} onClick={() => setMaking(!making)}>
          <Icon name="plus" />
          {t('plans.new')}
        </button>
      </div>
      {making && <NewPlan onMade={made} onClose={() => setMaking(false)} />}
      {found.isPending && <Loading />}
      {found.error && !found.data && <Failed error={found.error} retry={() => void found.refetch()} />}
      {found.data && all.length === 0 && !making && (
        <div className="panel">
          <Empty title={t('plans.none')}>
            <p className="second">{t('plans.none.why')}</p>
            <div className="row wrap">
              <button type="button" className="button" onClick={() => setMaking(true)}>
                {t('plans.new')}
              </button>
              <Link to="/app/chat" search={{}} className="button">
                {t('plans.ask')}
              </Link>
            </div>
          </Empty>
        </div>
      )}
      {found.data && (all.length > 0 || search.plan !== undefined) && (
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
            <More has={found.hasNextPage} busy={found.isFetchingNextPage} onMore={() => void found.fetchNextPage()} />
          </nav>
          {search.plan === undefined ? (
            <p className="second panel-body">{t('plans.choose')}</p>
          ) : (
            <PlanView key={search.plan} id={search.plan} job={search.job} onJob={(job) => void navigate({ search: (now) => ({ ...now, job }), replace: true, resetScroll: false })} onGone={() => void navigate({ search: {} })} />
          )}
        </div>
      )}
    </div>
  )
}

function NewPlan({ onMade, onClose }: { onMade: (id: number) => void; onClose: () => void }) {
  const t = useText()
  const { create } = usePlanWrites()
  const [name, setName] = useState('')
  const [goal, setGoal] = useState('')
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() !== '') create.mutate({ name: name.trim(), goal: goal.trim() }, { onSuccess: (made) => onMade(made.plan.id) })
  }
  return (
    <form className="panel panel-body stack" onSubmit={send} aria-label={t('plans.new')}>
      {/* What was asked for is what one goes on with. */}
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
