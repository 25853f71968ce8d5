// Goal: the list of runs shows all that qualifies a result, and of several agents says which.
import { screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import type { RangeResult } from '@/server/types'
import { runJob } from '@/test/job'
import { show } from '@/test/render'
import { joinMarks, QualityCell } from './QualityCell'

const job = runJob('job-1')
const result = (part: object = {}) =>
  ({
    model: 'house::momentum',
    full_research: { days: 5, total_days: 5 },
    training_cutoffs: [],
    provenance: { point_in_time: 'verified', reasons: [] },
    period_metrics: { days: 5, annualized_unavailable: 'too_few_days' },
    ...part,
  }) as unknown as RangeResult

it('marks a result that is insolvent, unverified, masked, short, and known to its models', async () => {
  const marked = result({
    insolvent: { since: '2012-10-04' },
    masked: { mask: 'all' },
    training_cutoffs: [{ model: 'lab::one', status: 'stated', date: '2012-10-03', days: 5, days_before: 3 }],
    provenance: { point_in_time: 'unverified', point_in_time_reason: { kind: 'memory', job: 'j', date: '2012-10-01' }, reasons: [] },
  })
  await show(<QualityCell job={job} results={[marked]} placeholder="…" />)
  expect(screen.getByText('Insolvent since Oct 4, 2012')).toBeTruthy()
  expect(screen.getByText('Point-in-time unverified').title).toBe('It recalled a memory of an unverified session')
  for (const mark of ['masked: all', 'before cut-off', 'n < 60']) expect(screen.getByText(mark)).toBeTruthy()
})

it('marks a masked run without results, and on a card an unknown cost', async () => {
  const unknown = runJob('job-1', { usage: { ...job.usage, cost: 'unknown', cost_usd: null }, simulation: job.simulation && { ...job.simulation, masked: { mask: 'dates', note: '', price_factors: {} } } })
  const { unmount } = await show(<QualityCell job={unknown} results={undefined} placeholder="…" />)
  expect(screen.getByText('masked: dates')).toBeTruthy()
  expect(screen.getByText('Cost unknown').closest('[class*="costMark"]')).toBeTruthy()
  unmount()
  await show(<QualityCell job={job} results={[result()]} placeholder="…" />)
  expect(screen.queryByText('Cost unknown')).toBeNull()
})

it('says how many agents have a mark, and names them', () => {
  const few = { key: 'few', text: 'n < 60', title: '5 of 60 days' }
  const unverified = (title: string) => ({ key: 'unverified', text: 'unverified', title })
  const joined = joinMarks([
    { agent: 'a', marks: [few, unverified('import')] },
    { agent: 'b', marks: [few, unverified('memory')] },
    { agent: 'c', marks: [few] },
  ])
  expect(joined.map(({ text, title }) => [text, title])).toEqual([
    ['n < 60', '5 of 60 days'],
    ['unverified (2/3)', 'a: import\nb: memory'],
  ])
})
