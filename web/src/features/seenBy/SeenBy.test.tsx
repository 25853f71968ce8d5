import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { http, HttpResponse } from 'msw'
import { expect, it } from 'vitest'
import { respondWith, network } from '@/test/network'
import { show } from '@/test/render'
import { SeenBy } from './SeenBy'

const session = (id: number, reads: object[]) => ({ session_id: id, job_id: 'job-12345678', date: `2012-10-0${id}`, model: 'trader', is_llm: false, status: 'completed', instant: null, reads, read_count: reads.length })
const read = (path: string, part: object) => ({ path, node: '', message_index: null, tool: null, series: 'AAPL/bars', first_date: '2012-09-03', last_date: '2012-10-01', rows: 20, known_at: '2012-10-01T20:00:00Z', ...part })
const page = (sessions: object[], next_cursor: string | null) => ({ kind: 'bar', dataset: 'd', sessions, count: sessions.length, next_cursor, deployment_mode: 'prod', is_dev_mode: false, preserve_dev_data: null })

it('links a bar to the message of each session, in pages, with exchange times', async () => {
  network.use(
    http.get('/exposures', ({ request }) => {
      const query = new URL(request.url).searchParams
      expect(query.get('kind')).toBe('bar')
      expect(query.get('symbol')).toBe('AAPL')
      if (query.get('cursor') === 'more') return HttpResponse.json(page([session(2, [read('AAPL/Trader#1/message#1', {})])], null))
      return HttpResponse.json(page([session(3, [read('solo#1/read#5', { message_index: 7, tool: 'get_bars' }), read('solo#1/read#5', { message_index: 7, tool: 'get_bars' }), read('solo#1/read#6', {})])], 'more'))
    }),
  )
  await show(<SeenBy filter={{ kind: 'bar', dataset: 'd', symbol: 'AAPL', from: '2012-10-01' }} zone="America/New_York" />)
  const row = (await screen.findByText('Oct 3, 2012')).closest('tr') as HTMLElement
  expect(within(row).getByRole('link', { name: 'Oct 3, 2012' }).getAttribute('href')).toBe('/app/runs/job-12345678/2012-10-03/trader?node=solo%231&at=%227%22')
  expect(row.textContent).toContain('get_bars')
  expect(row.textContent).toContain('+1')
  expect(row.textContent).toContain('16:00')
  await userEvent.click(screen.getByRole('button', { name: 'Show more' }))
  const older = (await screen.findByText('Oct 2, 2012')).closest('tr') as HTMLElement
  expect(within(older).getByRole('link', { name: 'Oct 2, 2012' }).getAttribute('href')).toContain('at=AAPL%2FTrader%231%2Fmessage%231&symbol=AAPL')
})

it('reports that no session saw it, and errors', async () => {
  respondWith('/exposures', page([], null))
  await show(<SeenBy filter={{ kind: 'news', dataset: 'd', news_id: 'n' }} />)
  expect(await screen.findByText('No session saw this.')).toBeTruthy()
  respondWith('/exposures', { error: 'not_found', message: 'the dataset d has no news item m' }, 404)
  await show(<SeenBy filter={{ kind: 'news', dataset: 'd', news_id: 'm' }} />)
  expect(await screen.findByText('the dataset d has no news item m')).toBeTruthy()
})
