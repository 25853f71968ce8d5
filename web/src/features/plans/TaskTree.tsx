import type { Task } from '@/server/actions'
import { useText } from '@/shared/i18n'
import { StatusMark } from '@/shared/ui/parts'
import { JsonView } from '@/transcript/JsonView'
import { RichText } from '@/transcript/RichText'

/** Tasks in the order of the tree: a parent, then its children by position. */
export function inOrder(tasks: Task[]): Task[] {
  const children = new Map<number | null, Task[]>()
  const known = new Set(tasks.map((task) => task.id))
  for (const task of tasks) {
    const parent = task.parent_id != null && known.has(task.parent_id) ? task.parent_id : null
    children.set(parent, [...(children.get(parent) ?? []), task])
  }
  const walk = (parent: number | null): Task[] =>
    (children.get(parent) ?? []).sort((a, b) => a.position - b.position || a.id - b.id).flatMap((task) => [task, ...walk(task.id)])
  return walk(null)
}

export function TaskTree({ tasks }: { tasks: Task[] }) {
  const t = useText()
  const names = new Map(tasks.map((task) => [task.id, task.name]))
  return (
    <ul className="tasks">
      {inOrder(tasks).map((task) => (
        <li key={task.id} style={{ paddingLeft: 12 + task.depth * 20 }}>
          <details>
            <summary>
              <StatusMark status={task.status} /> <b>{task.name}</b>
              {task.dependencies.length > 0 && <span className="quiet"> {t('plans.after', { tasks: task.dependencies.map((id) => names.get(id) ?? id).join(', ') })}</span>}
            </summary>
            {task.instruction && <RichText text={task.instruction} />}
            {task.execution_result != null && (typeof task.execution_result === 'string' ? <RichText text={task.execution_result} /> : <JsonView value={task.execution_result as never} />)}
          </details>
        </li>
      ))}
    </ul>
  )
}
