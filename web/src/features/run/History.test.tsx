// Goal: the rolling Sharpe ratio says which line is whose, and hides the lines that the run's chart hides.
import { fireEvent, screen, within } from '@testing-library/react'
import { beforeEach, expect, it, vi } from 'vitest'
import type { Curve } from '@/charts/EquityChart'
import type { RangeResult } from '@/server/types'
import { drawnCharts } from '@/test/charts'
import { show } from '@/test/render'
import { History } from './History'

vi.mock('lightweight-charts', async () => (await import('@/test/charts')).chartLibrary)

beforeEach(() => {
  drawnCharts.length = 0
})

const result = (model: string, sharpe: number) =>
  ({
    model,
    starting_portfolio_value: 100,
    daily_portfolio_values: [{ date: '2012-10-01', portfolio_value: 110 }],
    period_metrics: { days: 60, daily_deviation: 0.01 },
    history: { months: [], drawdowns: [], rolling_sharpe: [{ date: '2012-10-01', sharpe }] },
  }) as unknown as RangeResult
const curve = (id: string): Curve => ({ id, label: id, token: '--series-1', dash: 'solid', points: [] })
const view = (hidden: string[], onToggle = vi.fn()) => <History results={[result('a', 1.5), result('b', -0.25)]} curves={[curve('a'), curve('b')]} hidden={new Set(hidden)} onToggle={onToggle} zone={null} />
const legend = () => within(screen.getByRole('region', { name: 'Rolling Sharpe ratio' })).getByRole('group', { name: 'Chart lines' })

it('has a legend with the newest ratios, which hides lines', async () => {
  const onToggle = vi.fn()
  await show(view([], onToggle))
  expect(within(legend()).getAllByRole('button').map((one) => one.textContent)).toEqual(['a1.50', expect.stringMatching(/^b.0\.25$/)])
  fireEvent.click(within(legend()).getByRole('button', { name: /^b/ }))
  expect(onToggle).toHaveBeenCalledWith('b')
})

it('does not draw hidden lines, and still names them', async () => {
  await show(view(['b']))
  expect(within(legend()).getByRole('button', { name: /^b/ }).getAttribute('aria-pressed')).toBe('false')
  // The line at zero and that of `a`.
  expect(drawnCharts[0]?.series).toHaveLength(2)
})
