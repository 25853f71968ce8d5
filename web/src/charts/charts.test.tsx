// Goal: many lines can be told apart, and every chart of lines zooms and scales alike.
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, it, vi } from 'vitest'
import { I18nProvider } from '@/shared/i18n'
import { drawnCharts } from '@/test/charts'
import { recordImages } from '@/test/images'
import { type Line, LinesChart } from './LinesChart'
import { seriesStyle } from './tokens'

vi.mock('lightweight-charts', async () => (await import('@/test/charts')).chartLibrary)

beforeEach(() => {
  drawnCharts.length = 0
})

/** A year of month ends. */
const DAYS = Array.from({ length: 12 }, (_, month) => `2012-${String(month + 1).padStart(2, '0')}-28`)
const line = (id: string, value: number, part: Partial<Line> = {}): Line => ({ id, label: id, token: '--series-1', dash: 'solid', points: DAYS.map((date) => ({ date, value })), ...part })
const display = (value: number) => String(value)
const chart = (lines: Line[]) => (
  <I18nProvider>
    <LinesChart label="Ratio" name="ratio" value="ratio" lines={lines} display={display} />
  </I18nProvider>
)
const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }))
const newest = () => drawnCharts.at(-1)

it('draws eighteen agents differently, and none like a baseline', () => {
  const styles = Array.from({ length: 18 }, (_, index) => seriesStyle(index))
  expect(new Set(styles.map(({ token, dash }) => `${token} ${dash}`)).size).toBe(18)
  expect(styles[0]).toEqual({ token: '--series-1', dash: 'solid' })
  expect(styles[6]).toEqual({ token: '--series-1', dash: 'long' })
  expect(styles.some(({ dash }) => dash === 'dashed')).toBe(false)
})

it('draws each line in its pattern', () => {
  render(chart([line('a', 1), line('g', 2, { dash: 'long' })]))
  // The first series is the line at zero.
  expect(newest()?.series.map(({ options }) => options.lineStyle)).toEqual([undefined, 0, 3])
})

it('shows a range, resets it, and shows the same days after a change of lines', () => {
  const { rerender } = render(chart([line('a', 1), line('b', 2)]))
  expect(newest()?.range).toBe('all')
  press('3M')
  expect(newest()?.range).toEqual({ from: '2012-09-28', to: '2012-12-28' })
  expect(screen.getByRole('button', { name: '3M' }).getAttribute('aria-pressed')).toBe('true')
  rerender(chart([line('a', 1)]))
  expect(drawnCharts).toHaveLength(2)
  expect(newest()?.range).toEqual({ from: '2012-09-28', to: '2012-12-28' })
  press('Reset')
  expect(newest()?.range).toBe('all')
})

it('has a log scale, without the line at zero, only for positive values', () => {
  const { rerender } = render(chart([line('a', 1)]))
  press('Log')
  expect(newest()?.mode).toBe(1)
  expect(newest()?.series[0]?.options.visible).toBe(false)
  rerender(chart([line('a', 1), line('b', -1)]))
  expect(screen.queryByRole('button', { name: 'Log' })).toBeNull()
  expect(newest()?.mode).toBe(0)
  expect(newest()?.series[0]?.options.visible).toBe(true)
})

it('names the lines in its image', async () => {
  const images = recordImages()
  render(chart([line('momentum', 1), line('cautious', 2)]))
  fireEvent.click(screen.getByRole('button', { name: 'PNG', hidden: true }))
  await waitFor(() => expect(images[0]?.texts.map(({ text }) => text)).toEqual(['Ratio', 'momentum', 'cautious']))
})
