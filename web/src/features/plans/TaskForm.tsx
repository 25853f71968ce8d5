// Creates or edits a task: name, instruction, parent and dependencies.
import { type FormEvent, useState } from 'react'
import type { Task } from '@/server/actions'
import { useTaskWrites } from '@/server/writes'
import { useText } from '@/shared/i18n'
import { Failed } from '@/shared/ui/states'
import { subtreeOf, inTreeOrder } from './tree'
import css from './plans.module.css'

interface Props {
  plan: number
  tasks: Task[]
  /** The task to edit; absent for a new one. */
  task?: Task
  /** The parent of a new task. */
  parent?: number | null
  onClose: () => void
}

export function TaskForm({ plan, tasks, task, parent = null, onClose }: Props) {
  const t = useText()
  const { create, change } = useTaskWrites(plan)
  const [name, setName] = useState(task?.name ?? '')
  const [instruction, setInstruction] = useState(task?.instruction ?? '')
  const [parentId, setParentId] = useState<number | null>(task ? (task.parent_id ?? null) : parent)
  const [dependencies, setDependencies] = useState<number[]>(task?.dependencies ?? [])
  const subtree = task ? subtreeOf(task, tasks) : new Set<number>()
  const others = inTreeOrder(tasks).filter((other) => !subtree.has(other.id))
  const error = create.error ?? change.error
  const save = (event: FormEvent) => {
    event.preventDefault()
    const body = { name: name.trim(), instruction, dependencies }
    if (!task) {
      create.mutate({ ...body, parent_id: parentId }, { onSuccess: onClose })
      return
    }
    const moved = parentId === (task.parent_id ?? null) ? {} : { parent_id: parentId }
    change.mutate({ task: task.id, ...body, ...moved }, { onSuccess: onClose })
  }
  return (
    <form className={`stack ${css.taskForm}`} onSubmit={save} aria-label={task ? t('task.edit', { task: task.name }) : t('task.add')}>
      <label className="field">
        <span>{t('task.name')}</span>
        {/* The user opened this form to type. */}
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
          <select className="select" value={parentId ?? ''} onChange={(event) => setParentId(event.target.value === '' ? null : Number(event.target.value))}>
            <option value="">{t('task.top')}</option>
            {others.map((other) => (
              <option key={other.id} value={other.id}>
                {'\u2003'.repeat(other.depth)}
                {other.name}
              </option>
            ))}
          </select>
        </label>
        {others.length > 0 && (
          <details className="field">
            <summary className="second">{t('task.needs', { count: dependencies.length })}</summary>
            <div className={`stack ${css.taskNeeds}`}>
              {others.map((other) => (
                <label key={other.id} className="check">
                  <input type="checkbox" checked={dependencies.includes(other.id)} onChange={(event) => setDependencies(event.target.checked ? [...dependencies, other.id] : dependencies.filter((id) => id !== other.id))} />
                  <span className="clip">{other.name}</span>
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
