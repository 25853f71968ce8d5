import { expect, it } from 'vitest'
import type { Task } from '@/server/actions'
import { below, inOrder, place } from './tree'

const task = (id: number, parent_id: number | null, position: number, path: string) => ({ id, parent_id, position, path }) as Task
const tasks = [task(1, null, 1, '/1'), task(12, 1, 1, '/1/12'), task(2, null, 0, '/2'), task(11, 1, 0, '/1/11'), task(13, 11, 0, '/1/11/13')]

it('walks a parent, then its children by their places', () => {
  expect(inOrder(tasks).map((one) => one.id)).toEqual([2, 1, 11, 13, 12])
  expect(inOrder([])).toEqual([])
})

it('keeps a task whose parent is not there', () => {
  expect(inOrder([task(5, 4, 0, '/4/5')]).map((one) => one.id)).toEqual([5])
})

it('knows what is below a task, and not what begins with the same digits', () => {
  expect([...below(tasks[0] as Task, tasks)].sort((a, b) => a - b)).toEqual([1, 11, 12, 13])
  expect([...below(tasks[2] as Task, [...tasks, task(21, null, 2, '/21')])]).toEqual([2])
})

it('knows the place of a task among its siblings', () => {
  expect(place(tasks[1] as Task, tasks)).toEqual({ at: 1, of: 2 })
  expect(place(tasks[2] as Task, tasks)).toEqual({ at: 0, of: 2 })
})
