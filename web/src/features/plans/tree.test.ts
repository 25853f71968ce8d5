import { expect, it } from 'vitest'
import type { Task } from '@/server/actions'
import { subtreeOf, inTreeOrder, siblingIndex } from './tree'

const task = (id: number, parent_id: number | null, position: number, path: string) => ({ id, parent_id, position, path }) as Task
const tasks = [task(1, null, 1, '/1'), task(12, 1, 1, '/1/12'), task(2, null, 0, '/2'), task(11, 1, 0, '/1/11'), task(13, 11, 0, '/1/11/13')]

it('orders a parent before its children, children by position', () => {
  expect(inTreeOrder(tasks).map((one) => one.id)).toEqual([2, 1, 11, 13, 12])
  expect(inTreeOrder([])).toEqual([])
})

it('includes a task whose parent is missing', () => {
  expect(inTreeOrder([task(5, 4, 0, '/4/5')]).map((one) => one.id)).toEqual([5])
})

it('finds the descendants of a task, not those with the same digits in the path', () => {
  expect([...subtreeOf(tasks[0] as Task, tasks)].sort((a, b) => a - b)).toEqual([1, 11, 12, 13])
  expect([...subtreeOf(tasks[2] as Task, [...tasks, task(21, null, 2, '/21')])]).toEqual([2])
})

it('finds the index of a task among its siblings', () => {
  expect(siblingIndex(tasks[1] as Task, tasks)).toEqual({ at: 1, of: 2 })
  expect(siblingIndex(tasks[2] as Task, tasks)).toEqual({ at: 0, of: 2 })
})
