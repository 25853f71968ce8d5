import { QueryObserver } from '@tanstack/react-query'
import { http, HttpResponse } from 'msw'
import { expect, it } from 'vitest'
import { network } from '@/test/network'
import { makeQueryClient } from './cache'
import { steps } from './queries'

it('shows the first page of a long list while the rest comes, and never less than it had', async () => {
  const step = (n: number) => ({ path: `solo#1/model#${n}` })
  let letOn = () => {}
  const held = new Promise<void>((resolve) => {
    letOn = resolve
  })
  network.use(
    http.get('/sessions/7/steps', async ({ request }) => {
      const at = Number(new URL(request.url).searchParams.get('cursor') ?? 0)
      if (at > 0) await held
      return HttpResponse.json({ steps: [step(at)], next_cursor: at < 4 ? String(at + 1) : null })
    }),
  )
  const client = makeQueryClient()
  const seen: number[] = []
  const observer = new QueryObserver(client, steps('job', 7))
  const all = new Promise<void>((resolve) => {
    observer.subscribe(({ data, fetchStatus }) => {
      if (data && seen.at(-1) !== data.length) seen.push(data.length)
      if (data?.length === 1) letOn()
      if (data?.length === 5 && fetchStatus === 'idle') resolve()
    })
  })
  await all
  expect(seen).toEqual([1, 2, 4, 5])
  await client.refetchQueries({ queryKey: ['job', 'job', 'steps', 7] })
  expect(seen).toEqual([1, 2, 4, 5])
})
