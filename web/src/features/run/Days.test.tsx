// Goal: days that an earlier run completed do not look like the run's own days.
import { screen } from '@testing-library/react'
import { createRef } from 'react'
import { expect, it } from 'vitest'
import type { AgentCurve, Curves } from '@/server/types'
import { show } from '@/test/render'
import { Days } from './Days'

const agent: AgentCurve = {
  model: 'a',
  is_llm: false,
  starting_portfolio_value: 100,
  done_before: [{ job_id: '01234567-89ab-cdef', start_date: '2012-10-01', end_date: '2012-10-01' }],
  portfolio_values: [110, 121, null],
  statuses: ['skipped', 'completed', 'skipped'],
  full_research: [true, true, null],
}
const curves = (part: Partial<AgentCurve> = {}) => ({ dates: ['2012-10-01', '2012-10-02', '2012-10-03'], agents: [{ ...agent, ...part }] }) as Curves

it('names the run that completed a skipped day, outlines the day, and explains the outline', async () => {
  await show(<Days jobId="own" curves={curves()} box={createRef()} />)
  const [skipped, own, open] = screen.getAllByRole('link', { name: /^Oct/ })
  expect(skipped?.getAttribute('aria-label')).toMatch(/^Oct 1, 2012, \+10\.00%, skipped, completed by run \S+$/)
  expect(skipped?.className).toBe('day gain skipped')
  expect(skipped?.getAttribute('href')).toContain('/01234567-89ab-cdef/2012-10-01/a')
  expect(own?.getAttribute('aria-label')).toBe('Oct 2, 2012, +10.00%')
  expect(own?.className).toBe('day gain')
  expect(open?.getAttribute('aria-label')).toBe('Oct 3, 2012, Skipped')
  expect(screen.getByText('Skipped, completed by an earlier run')).toBeTruthy()
})

it('has no such entry in the legend without skipped days', async () => {
  await show(<Days jobId="own" curves={curves({ statuses: ['completed', 'completed', 'queued'], done_before: [] })} box={createRef()} />)
  expect(screen.queryByText('Skipped, completed by an earlier run')).toBeNull()
})
