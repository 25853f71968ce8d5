import { fireEvent, screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import type { RangeResult } from '@/server/types'
import { respondWith } from '@/test/network'
import { show } from '@/test/render'
import { AgentKinds } from './agentKinds'
import { Operate } from './operate'
import { ResultMarks } from './resultMarks'
import { TouchTitles } from './touchTitles'

it('hides what a read-only token cannot use', async () => {
  respondWith('/access', { required: true, name: 'reader', scope: 'read' })
  await show(
    <Operate>
      <button type="button">Stop</button>
    </Operate>,
  )
  await expect.poll(() => screen.queryByRole('button', { name: 'Stop' })).toBeNull()
})

it('shows controls to a user who may operate', async () => {
  respondWith('/access', { required: true, name: 'operator', scope: 'operate' })
  await show(
    <Operate>
      <button type="button">Stop</button>
    </Operate>,
  )
  expect(await screen.findByRole('button', { name: 'Stop' })).toBeTruthy()
})

it('says for each agent whether rules or a model decide', async () => {
  const agents = ['a', 'b', 'c', 'd', 'e'].map((name, index) => ({ name, is_llm: index % 2 === 0 }))
  await show(<AgentKinds agents={agents} />)
  expect(screen.getAllByText('LLM')).toHaveLength(2)
  expect(screen.getAllByText('Not an LLM')).toHaveLength(2)
  expect(screen.getByText('+1').title).toBe('e: a language model decides')
})

it('marks a result that is insolvent, degraded, unverified, masked, short, and known to its models', async () => {
  const result = {
    insolvent: { since: '2012-10-09' },
    full_research: { days: 8, total_days: 10 },
    masked: { mask: 'all' },
    training_cutoffs: [
      { model: 'lab::one', status: 'stated', date: '2012-10-05', days: 10, days_before: 4 },
      { model: 'lab::two', status: 'stated', date: '2012-09-01', days: 10, days_before: 0 },
      { model: 'lab::three', status: 'unknown', days: 10 },
    ],
    provenance: { point_in_time: 'unverified', point_in_time_reason: { kind: 'memory', job: 'j', date: '2012-10-01' }, reasons: [{ date: '2012-10-02', state: 'no_decision', reason: null }] },
    period_metrics: { days: 10, annualized_unavailable: 'too_few_days' },
  } as unknown as RangeResult
  await show(<ResultMarks result={result} />)
  expect(screen.getByText('Insolvent since Oct 9, 2012')).toBeTruthy()
  expect(screen.getByText('8 of 10 days full').title).toContain('No decision')
  expect(screen.getByText('Point-in-time unverified').title).toBe('It recalled a memory of an unverified session')
  expect(screen.getByText('masked: all').title).toContain('as the agent saw them')
  expect(screen.getByText('before cut-off').title).toContain('4 of 10 days')
  expect(screen.getByText('cut-off unknown').title).toContain('lab::three')
  expect(screen.getByText('n < 60').title).toBe('Not annualized: 10 of 60 days')
})

it('shows the explanation of a mark when it is tapped, and not that of a link', async () => {
  await show(
    <>
      <span title="Why it is degraded">Degraded</span>
      <a href="/app/runs" title="All runs">
        Runs
      </a>
      <TouchTitles />
    </>,
  )
  const tap = (element: Element, pointerType: string) => fireEvent(element, Object.assign(new Event('pointerup', { bubbles: true }), { pointerType }))
  tap(screen.getByText('Degraded'), 'mouse')
  expect(screen.getByRole('status').textContent).toBe('')
  tap(screen.getByText('Degraded'), 'touch')
  expect(screen.getByRole('status').textContent).toBe('Why it is degraded')
  tap(screen.getByText('Runs'), 'touch')
  expect(screen.getByRole('status').textContent).toBe('')
})
