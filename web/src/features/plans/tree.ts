// The order of a plan's tasks, and their positions among siblings.
import type { Task } from '@/server/actions'

/** Tasks in tree order: a parent, then its children by position. */
export function inTreeOrder(tasks: Task[]): Task[] {
  const children = new Map<number | null, Task[]>()
  const known = new Set(tasks.map((task) => task.id))
  for (const task of tasks) {
    const parent = task.parent_id != null && known.has(task.parent_id) ? task.parent_id : null
    const siblings = children.get(parent)
    if (siblings) siblings.push(task)
    else children.set(parent, [task])
  }
  const ordered: Task[] = []
  // The next task is last.
  const stack = [...sorted(children.get(null))].reverse()
  for (let task = stack.pop(); task !== undefined; task = stack.pop()) {
    ordered.push(task)
    stack.push(...sorted(children.get(task.id)).reverse())
  }
  return ordered
}

function sorted(tasks: Task[] = []): Task[] {
  return [...tasks].sort((a, b) => a.position - b.position || a.id - b.id)
}

/** The IDs of the task and its descendants. */
export function subtreeOf(task: Task, tasks: Task[]): Set<number> {
  const path = `${task.path}/`
  return new Set(tasks.filter((one) => one.id === task.id || `${one.path}/`.startsWith(path)).map((one) => one.id))
}

/** The index of a task among its siblings, and their number. */
export function siblingIndex(task: Task, tasks: Task[]): { at: number; of: number } {
  const siblings = sorted(tasks.filter((one) => (one.parent_id ?? null) === (task.parent_id ?? null)))
  return { at: siblings.findIndex((one) => one.id === task.id), of: siblings.length }
}
