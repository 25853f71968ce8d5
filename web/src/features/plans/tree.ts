// The order of a plan's tasks, and where each of them may go.
import type { Task } from '@/server/actions'

/** Tasks in the order of the tree: a parent, then its children by position. */
export function inOrder(tasks: Task[]): Task[] {
  const children = new Map<number | null, Task[]>()
  const known = new Set(tasks.map((task) => task.id))
  for (const task of tasks) {
    const parent = task.parent_id != null && known.has(task.parent_id) ? task.parent_id : null
    const siblings = children.get(parent)
    if (siblings) siblings.push(task)
    else children.set(parent, [task])
  }
  const found: Task[] = []
  // Those that are still to come, the next one last.
  const open = [...sorted(children.get(null))].reverse()
  for (let task = open.pop(); task !== undefined; task = open.pop()) {
    found.push(task)
    open.push(...sorted(children.get(task.id)).reverse())
  }
  return found
}

function sorted(tasks: Task[] = []): Task[] {
  return [...tasks].sort((a, b) => a.position - b.position || a.id - b.id)
}

/** The task itself and all that is below it. */
export function below(task: Task, tasks: Task[]): Set<number> {
  const path = `${task.path}/`
  return new Set(tasks.filter((one) => one.id === task.id || `${one.path}/`.startsWith(path)).map((one) => one.id))
}

/** Where a task stands among its siblings, and among how many. */
export function place(task: Task, tasks: Task[]): { at: number; of: number } {
  const siblings = sorted(tasks.filter((one) => (one.parent_id ?? null) === (task.parent_id ?? null)))
  return { at: siblings.findIndex((one) => one.id === task.id), of: siblings.length }
}
