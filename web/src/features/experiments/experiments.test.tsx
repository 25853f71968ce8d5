import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { http, HttpResponse } from 'msw'
import { expect, it } from 'vitest'
import type { ExperimentSummary } from '@/server/types'
import { network, respondWith } from '@/test/network'
import { show } from '@/test/render'
import { ExperimentControls } from './ExperimentControls'
import { Trials } from './Trials'

const experiment = (part: Partial<ExperimentSummary> = {}): ExperimentSummary => ({
  experiment_id: 'exp-1',
  agents: ['m'],
  completed_jobs: 1,
  planned_jobs: 3,
  created_at: '2026-11-22T05:00:00Z',
  planned_last_day: '2012-03-30',
  start_date: '2012-01-03',
  status: 'partial',
  trials: 3,
  windows: 1,
  interim: '1 of 3 jobs',
  progress: { completed: 30, failed: 0, pending: 0, skipped: 0, total_model_days: 90 },
  usage: { cached_tokens: 0, cost: 'known', cost_usd: 1, estimated_calls: 0, input_tokens: 1, output_tokens: 1, priced_cost_usd: 1 },
  ...part,
})
const spread = (mean: number, deviation: number) => ({ n: 2, mean, deviation, min: mean - deviation, max: mean + deviation })
const trial = (number: number, part: object = {}) => ({ trial: number, job_id: `job-${number}`, seed: number, status: 'completed', is_complete: true, days: 30, degraded_days: 0, failed_days: 0, total_return: 0.01 * number, ...part })

it('shows every trial, and mean and deviation of the complete ones', async () => {
  respondWith('/experiments/exp-1/results', {
    experiment_id: 'exp-1',
    interim: '1 of 3 jobs',
    agents: [
      {
        agent: { name: 'm', is_llm: true, trials: 3, varies_by: 'chance' },
        training_cutoffs: [{ model: 'lab::m', status: 'stated', date: '2012-02-01', days: 30, days_before: 20 }],
        windows: [
          {
            number: 1,
            window: { start_date: '2012-01-03', end_date: '2012-02-14', days: 30 },
            mask: 'dates',
            buy_and_hold: 0.02,
            spread: { trials: 2, total_return: spread(0.015, 0.007) },
            trials: [trial(1), trial(2, { degraded_days: 4 }), trial(3, { is_complete: false, days: 12, status: 'partial', insolvent_on: '2012-01-20', cost_usd: 0.5 })],
          },
        ],
      },
    ],
  })
  await show(<Trials experiment={experiment()} />)
  expect(await screen.findByText('Trials differ by chance only')).toBeTruthy()
  expect(within(screen.getByRole('row', { name: /^Mean/ })).getByText('+1.50%')).toBeTruthy()
  expect(within(screen.getByRole('row', { name: /^Deviation/ })).getByText('0.70%')).toBeTruthy()
  expect(screen.getByText(/2 of 3 complete · Buy-and-hold \+2.00%/)).toBeTruthy()
  expect(screen.getByText('4 of 30 days without full research')).toBeTruthy()
  expect(screen.getByText('12 of 30')).toBeTruthy()
  expect(screen.getByText('Insolvent since Jan 20, 2012')).toBeTruthy()
  expect(screen.getAllByText('under 60 days')).toHaveLength(3)
  expect(screen.getByText('masked: dates')).toBeTruthy()
  expect(screen.getByText('before cut-off').title).toContain('20 of 30 days')
  const marksOf = (number: number) => within(screen.getByRole('link', { name: String(number) }).closest('tr') as HTMLElement)
  expect(marksOf(1).getByText('n < 60').title).toBe('Not annualized: 30 of 60 days')
  expect(marksOf(1).getByTitle(/model cost of this run is unknown/)).toBeTruthy()
  expect(marksOf(3).queryByTitle(/model cost of this run is unknown/)).toBeNull()
})

it('resumes with another limit, or with the same', async () => {
  const bodies: unknown[] = []
  network.use(
    http.post('/experiments/exp-1/resume', async ({ request }) => {
      bodies.push(await request.json())
      return HttpResponse.json({ experiment_id: 'exp-1', status: 'queued', jobs: 2 }, { status: 202 })
    }),
  )
  await show(<ExperimentControls experiment={experiment()} budget={{ usd: 5 }} />)
  const resume = async (usd?: string) => {
    await userEvent.click(screen.getByRole('button', { name: 'Resume' }))
    const dialog = screen.getByRole('dialog')
    if (usd) {
      await userEvent.clear(within(dialog).getByLabelText('Limit (USD)'))
      await userEvent.type(within(dialog).getByLabelText('Limit (USD)'), usd)
    }
    await userEvent.click(within(dialog).getByRole('button', { name: 'Resume' }))
  }
  await resume()
  await expect.poll(() => bodies).toEqual([{}])
  await resume('12.5')
  await expect.poll(() => bodies[1]).toEqual({ budget: { usd: 12.5 } })
})

it('offers no resume of a complete experiment, and cancels a running one', async () => {
  let cancelled = 0
  network.use(http.post('/experiments/exp-1/cancel', () => ((cancelled += 1), HttpResponse.json({ status: 'running' }, { status: 202 }))))
  const { unmount } = await show(<ExperimentControls experiment={experiment({ status: 'completed', completed_jobs: 3 })} budget={{}} />)
  expect(screen.queryByRole('button')).toBeNull()
  unmount()
  await show(<ExperimentControls experiment={experiment({ status: 'running' })} budget={{}} />)
  await userEvent.click(screen.getByRole('button', { name: 'Cancel all jobs' }))
  await expect.poll(() => cancelled).toBe(1)
})
