// What a task is called, what is to be done, what it is a part of, and what must be done before it.
import { type FormEvent, useState } from 'react'
import type { Task } from '@/server/actions'
import { useTaskWrites } from '@/server/writes'
import { useText } from '@/shared/i18n'
import { Failed } from '@/shared/ui/states'
import { below, inOrder } from './tree'

interface Props {
  plan: number
  tasks: Task[]
  /** The one that is changed; absent: a new one. */
  task?: Task
  /** Of a new one: what it is a part of. */
  parent?: number | null
  onClose: () => void
}

export function TaskForm({ plan, tasks, task, parent = null, onClose }: Props) {
  const t = useText()
  const { create, change } = useTaskWrites(plan)
  const [name, setName] = useState(task?.name ?? '')
  const [instruction, setInstruction] = useState(task?.instruction ?? '')
  const [under, setUnder] = useState<number | null>(task ? (task.parent_id ?? null) : parent)
  const [needs, setNeeds] = useState<number[]>(task?.dependencies ?? [])
  const own = task ? below(task, tasks) : new Set<number>()
  const others = inOrder(tasks).filter((one) => !own.has(one.id))
  const error = create.error ?? change.error
  const save = (event: FormEvent) => {
    event.preventDefault()
    const body = { name: name.trim(), instruction, dependencies: needs }
    if (!task) {
      create.mutate({ ...body, parent_id: under }, { onSuccess: onClose })
      return
    }
    const moved = under === (task.parent_id ?? null) ? {} : { parent_id: under }
    change.mutate({ task: task.id, ...body, ...moved }, { onSuccess: onClose })
  }
  return (
    <form className="stack task-form" onSubmit={save} aria-label={task ? t('task.edit', { task: task.name }) : t('task.add')}>
      <label className="field">
        <span>{t('task.name')}</span>
        {/* What was asked for is what one goes on with. */}
        {/* eslint-disable-next-line jsx-a11y/no-autofocus */}
        <input className="input" autoFocus value={name} maxLength={200} onChange={(event) => setName(event.target.value)} />
      </label>
      <label className="field">
        <span>{t('task.instruction')}</span>
        <textarea className="input" rows={3} value={instruction} maxLength={20_000} onChange={(event) => setInstruction(event.target.value)} />
      </label>
      <div className="fields">
        <label className="field">
          <span>{t('task.under')}</span>
          <select className="select" value={under ?? ''} onChange={(event) => setUnder(event.target.value === '' ? null : Number(event.target.value))}>
            <option value="">{t('task.top')}</option>
            {others.map((one) => (
              <option key={one.id} value={one.id}>
                {'\u2003'.repeat(one.depth)}
                {one.name}
              </option>
            ))}
          </select>
        </label>
        {others.length > 0 && (
          <details className="field">
            <summary className="second">{t('task.needs', { count: needs.length })}</summary>
            <div className="stack task-needs">
              {others.map((one) => (
                <label key={one.id} className="check">
                  <input type="checkbox" checked={needs.includes(one.id)} onChange={(event) => setNeeds(event.target.checked ? [...needs, one.id] : needs.filter((id) => id !== one.id))} />
                  <span className="clip">{one.name}</span>
                </label>
              ))}
            </div>
          </details>
        )}
      </div>
      {error && <Failed error={error} />}
      <div className="row">
        <button type="submit" className="button primary small" disabled={create.isPending || change.isPending || name.trim() === ''}>
          {t('action.save')}
        </button>
        <button type="button" className="button small" onClick={onClose}>
          {t('action.cancel')}
        </button>
      </div>
    </form>
  )
}
