import { QueryObserver } from '@tanstack/react-query'
import { http, HttpResponse } from 'msw'
import { expect, it } from 'vitest'
import { network } from '@/test/network'
import { makeQueryClient } from './cache'
import { steps, talk } from './queries'

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

it('reads a conversation a little first and then in large pages, and knows how much is still to come', async () => {
  const message = (n: number) => ({ message_index: n, path: `solo#1/tool#${n}`, content: `${n}` })
  const asked: (string | null)[] = []
  network.use(
    http.get('/sessions/7/messages', ({ request }) => {
      const { searchParams } = new URL(request.url)
      asked.push(searchParams.get('limit'))
      const at = Number(searchParams.get('cursor') ?? 0)
      const instructions = at === 0 ? [{ node: 'solo#1', content: 'Trade.' }] : undefined
      return HttpResponse.json({ total: 3, instructions, messages: [message(at)], next_cursor: at < 2 ? String(at + 1) : null })
    }),
  )
  const client = makeQueryClient()
  const seen: string[] = []
  const observer = new QueryObserver(client, talk('job', 7))
  await new Promise<void>((resolve) => {
    observer.subscribe(({ data, fetchStatus }) => {
      const said = data && `${data.messages.length} of ${data.total}`
      if (said && seen.at(-1) !== said) seen.push(said)
      if (data?.messages.length === 3 && fetchStatus === 'idle') resolve()
    })
  })
  expect(seen).toEqual(['1 of 3', '2 of 3', '3 of 3'])
  expect(asked).toEqual(['200', '1000', '1000'])
  const { data } = observer.getCurrentResult()
  expect(data?.instructions).toEqual([{ node: 'solo#1', content: 'Trade.' }])
  expect(data?.messages.map((one) => one.message_index)).toEqual([0, 1, 2])
})
