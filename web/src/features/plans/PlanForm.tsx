import { type FormEvent, useState } from 'react'
import type { Plan } from '@/server/actions'
import { usePlanWrites } from '@/server/writes'
import { useText } from '@/shared/i18n'
import { Failed } from '@/shared/ui/states'

/** Edits a plan's name and goal. */
export function PlanForm({ plan, onClose }: { plan: Plan; onClose: () => void }) {
  const t = useText()
  const { change } = usePlanWrites()
  const [name, setName] = useState(plan.name)
  const [goal, setGoal] = useState(plan.goal)
  const save = (event: FormEvent) => {
    event.preventDefault()
    change.mutate({ id: plan.id, name: name.trim(), goal }, { onSuccess: onClose })
  }
  return (
    <form className="stack" onSubmit={save}>
      <label className="field">
        <span>{t('plans.name')}</span>
        <input className="input" value={name} maxLength={200} onChange={(event) => setName(event.target.value)} />
      </label>
      <label className="field">
        <span>{t('plans.goal')}</span>
        <textarea className="input" rows={3} value={goal} maxLength={20_000} onChange={(event) => setGoal(event.target.value)} />
      </label>
      {change.error && <Failed error={change.error} />}
      <div className="row">
        <button type="submit" className="button primary small" disabled={change.isPending || name.trim() === ''}>
          {t('action.save')}
        </button>
        <button type="button" className="button small" onClick={onClose}>
          {t('action.cancel')}
        </button>
      </div>
    </form>
  )
}
