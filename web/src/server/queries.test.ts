import { QueryObserver } from '@tanstack/react-query'
import { http, HttpResponse } from 'msw'
import { expect, it } from 'vitest'
import { network } from '@/test/network'
import { makeQueryClient } from './cache'
import { jobResults } from './queries'
import { conversation, steps } from './sessions'

it('shows the first page of a long list while the rest loads, and never shrinks', async () => {
  const step = (n: number) => ({ path: `solo#1/model#${n}` })
  let release = () => {}
  const blocked = new Promise<void>((resolve) => {
    release = resolve
  })
  network.use(
    http.get('/sessions/7/steps', async ({ request }) => {
      const at = Number(new URL(request.url).searchParams.get('cursor') ?? 0)
      if (at > 0) await blocked
      return HttpResponse.json({ steps: [step(at)], next_cursor: at < 4 ? String(at + 1) : null })
    }),
  )
  const client = makeQueryClient()
  const seen: number[] = []
  const observer = new QueryObserver(client, steps('job', 7))
  const all = new Promise<void>((resolve) => {
    observer.subscribe(({ data, fetchStatus }) => {
      if (data && seen.at(-1) !== data.length) seen.push(data.length)
      if (data?.length === 1) release()
      if (data?.length === 5 && fetchStatus === 'idle') resolve()
    })
  })
  await all
  expect(seen).toEqual([1, 2, 4, 5])
  await client.refetchQueries({ queryKey: ['job', 'job', 'steps', 7] })
  expect(seen).toEqual([1, 2, 4, 5])
})

it('loads a conversation with a small first page, then large ones, and knows the total', async () => {
  const message = (n: number) => ({ message_index: n, path: `solo#1/tool#${n}`, content: `${n}` })
  const limits: (string | null)[] = []
  network.use(
    http.get('/sessions/7/messages', ({ request }) => {
      const { searchParams } = new URL(request.url)
      limits.push(searchParams.get('limit'))
      const at = Number(searchParams.get('cursor') ?? 0)
      const instructions = at === 0 ? [{ node: 'solo#1', content: 'Trade.' }] : undefined
      return HttpResponse.json({ total: 3, instructions, messages: [message(at)], next_cursor: at < 2 ? String(at + 1) : null })
    }),
  )
  const client = makeQueryClient()
  const seen: string[] = []
  const observer = new QueryObserver(client, conversation('job', 7))
  await new Promise<void>((resolve) => {
    observer.subscribe(({ data, fetchStatus }) => {
      const progress = data && `${data.messages.length} of ${data.total}`
      if (progress && seen.at(-1) !== progress) seen.push(progress)
      if (data?.messages.length === 3 && fetchStatus === 'idle') resolve()
    })
  })
  expect(seen).toEqual(['1 of 3', '2 of 3', '3 of 3'])
  expect(limits).toEqual(['200', '1000', '1000'])
  const { data } = observer.getCurrentResult()
  expect(data?.instructions).toEqual([{ node: 'solo#1', content: 'Trade.' }])
  expect(data?.messages.map((one) => one.message_index)).toEqual([0, 1, 2])
})

it('requests shared baselines once, and gives them to the agents that share them', async () => {
  let query = new URLSearchParams()
  const baselines = { buy_and_hold: {}, equal_weight: {} }
  network.use(
    http.get('/results', ({ request }) => {
      query = new URL(request.url).searchParams
      const results = ['a', 'b', 'c'].map((model) => ({ model, baselines: null }))
      return HttpResponse.json({ results, shared_baselines: [{ models: ['a', 'c'], baselines }] })
    }),
  )
  const found = await makeQueryClient().fetchQuery(jobResults('job'))
  expect(query.get('baselines')).toBe('shared')
  expect(found?.results.map((result) => result.baselines)).toEqual([baselines, null, baselines])
  expect(found?.results[0]?.baselines).toBe(found?.results[2]?.baselines)
})
