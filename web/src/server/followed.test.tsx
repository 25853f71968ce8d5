// Goal: a row that is scrolled past leaves nothing in the cache, and one that is followed is fetched once and refreshed.
import { QueryClientProvider } from '@tanstack/react-query'
import { render, screen } from '@testing-library/react'
import { expect, it, vi } from 'vitest'
import { makeQueryClient } from './cache'
import { useFollowed } from './followed'

const read = vi.fn()
const make = (id: string) => ({ queryKey: ['row', id], queryFn: () => read(id) as Promise<string> })
const until = (data: string | undefined) => (data === 'second' ? false : 20)

function Row({ isFollowed }: { isFollowed: boolean }) {
  const { data, error } = useFollowed(make, 'a', isFollowed, until)
  return <p>{error?.message ?? data ?? 'nothing'}</p>
}

function open() {
  const client = makeQueryClient()
  client.setDefaultOptions({ queries: { retry: false } })
  const tree = (isFollowed: boolean) => (
    <QueryClientProvider client={client}>
      <Row isFollowed={isFollowed} />
    </QueryClientProvider>
  )
  const { rerender } = render(tree(false))
  return { client, follow: (isFollowed: boolean) => rerender(tree(isFollowed)) }
}

it('creates no query before the row is followed', async () => {
  read.mockReset().mockResolvedValueOnce('first').mockResolvedValue('second')
  const { client, follow } = open()
  expect(screen.getByText('nothing')).toBeTruthy()
  expect(client.getQueryCache().getAll()).toEqual([])
  follow(true)
  await screen.findByText('first')
  await screen.findByText('second')
  follow(false)
  expect(screen.getByText('second')).toBeTruthy()
  expect(client.getQueryCache().find({ queryKey: ['row', 'a'] })?.getObserversCount()).toBe(0)
  expect(read).toHaveBeenCalledTimes(2)
})

it('shows the error of a followed row', async () => {
  read.mockReset().mockRejectedValue(new Error('not found'))
  open().follow(true)
  expect(await screen.findByText('not found')).toBeTruthy()
})
