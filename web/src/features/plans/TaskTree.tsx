// The tasks of a plan, each with its result and actions.
import { useMemo, useState } from 'react'
import type { Task } from '@/server/actions'
import { useTaskWrites } from '@/server/writes'
import { useText } from '@/shared/i18n'
import { Confirm } from '@/shared/ui/dialog'
import { Icon } from '@/shared/ui/icons'
import { Operate } from '@/shared/ui/operate'
import { StatusMark } from '@/shared/ui/parts'
import { Failed } from '@/shared/ui/states'
import { JsonView } from '@/transcript/JsonView'
import { RichText } from '@/transcript/RichText'
import { TaskForm } from './TaskForm'
import { inTreeOrder, siblingIndex } from './tree'
import css from './plans.module.css'

interface Props {
  plan: number
  tasks: Task[]
  onStart: (what: 'decompose' | 'execute', task: number) => void
}

export function TaskTree({ plan, tasks, onStart }: Props) {
  const names = useMemo(() => new Map(tasks.map((task) => [task.id, task.name])), [tasks])
  const ordered = useMemo(() => inTreeOrder(tasks), [tasks])
  return (
    <ul className={css.tasks}>
      {ordered.map((task) => (
        <TaskItem key={task.id} plan={plan} task={task} tasks={tasks} names={names} onStart={onStart} />
      ))}
    </ul>
  )
}

function TaskItem({ plan, task, tasks, names, onStart }: Props & { task: Task; names: Map<number, string> }) {
  const t = useText()
  const [open, setOpen] = useState(false)
  const [form, setForm] = useState<'edit' | 'add' | null>(null)
  return (
    <li style={{ paddingLeft: 12 + task.depth * 22 }}>
      <div className={css.taskRow}>
        <button type="button" className={css.taskName} data-task={task.id} aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={open ? 'down' : 'right'} />
          <StatusMark status={task.status} />
          <b>{task.name}</b>
          {task.dependencies.length > 0 && <span className="quiet clip">{t('plans.after', { tasks: task.dependencies.map((id) => names.get(id) ?? id).join(', ') })}</span>}
        </button>
        <Operate>
          <TaskTools plan={plan} task={task} tasks={tasks} onStart={onStart} onForm={(requested) => setForm(form === requested ? null : requested)} />
        </Operate>
      </div>
      {form === 'edit' && <TaskForm plan={plan} tasks={tasks} task={task} onClose={() => setForm(null)} />}
      {open && form !== 'edit' && <TaskBody task={task} />}
      {form === 'add' && <TaskForm plan={plan} tasks={tasks} parent={task.id} onClose={() => setForm(null)} />}
    </li>
  )
}

function TaskBody({ task }: { task: Task }) {
  const t = useText()
  const result = task.execution_result
  return (
    <div className={`${css.taskBody} stack`}>
      {task.instruction === '' ? <p className="quiet">{t('task.no.instruction')}</p> : <RichText text={task.instruction} />}
      {result != null && (
        <>
          <h3>{t('task.result')}</h3>
          {typeof result === 'string' ? <RichText text={result} /> : <JsonView value={result} />}
        </>
      )}
    </div>
  )
}

interface ToolsProps extends Props {
  task: Task
  onForm: (form: 'edit' | 'add') => void
}

/** The actions of a task. */
function TaskTools({ plan, task, tasks, onStart, onForm }: ToolsProps) {
  const t = useText()
  const { change, remove } = useTaskWrites(plan)
  const [confirming, setConfirming] = useState(false)
  const { at, of } = siblingIndex(task, tasks)
  const move = (to: number) => change.mutate({ task: task.id, position: to })
  const isRerun = task.status === 'completed' || task.status === 'failed' || task.status === 'skipped'
  const named = { task: task.name }
  return (
    <>
      <span className={css.taskTools} role="group" aria-label={t('task.tools', named)}>
        <button type="button" className="button small plain" disabled={at <= 0 || change.isPending} aria-label={t('task.up', named)} title={t('task.up', named)} onClick={() => move(at - 1)}>
          <Icon name="up" />
        </button>
        <button type="button" className="button small plain" disabled={at >= of - 1 || change.isPending} aria-label={t('task.down', named)} title={t('task.down', named)} onClick={() => move(at + 1)}>
          <Icon name="down" />
        </button>
        <button type="button" className="button small plain" aria-label={t('task.edit', named)} onClick={() => onForm('edit')}>
          {t('action.edit')}
        </button>
        <button type="button" className="button small plain" aria-label={t('task.add.under', named)} title={t('task.add.under', named)} onClick={() => onForm('add')}>
          <Icon name="plus" />
        </button>
        <button type="button" className="button small plain" aria-label={t('task.decompose', named)} onClick={() => onStart('decompose', task.id)}>
          {t('plans.decompose')}
        </button>
        <button type="button" className="button small plain" aria-label={t(isRerun ? 'task.rerun' : 'task.run', named)} onClick={() => onStart('execute', task.id)}>
          {isRerun ? t('task.again') : t('task.go')}
        </button>
        <button type="button" className="button small plain danger" aria-label={t('task.remove', named)} title={t('task.remove', named)} onClick={() => setConfirming(true)}>
          <Icon name="close" />
        </button>
      </span>
      {(change.error ?? remove.error) && <Failed error={change.error ?? remove.error} />}
      {confirming && <Confirm title={t('task.remove.sure', named)} description={t('task.remove.what')} action={t('plans.remove')} onConfirm={() => remove.mutate(task.id)} onClose={() => setConfirming(false)} />}
    </>
  )
}
