// Goal: the image of a chart says which line is whose.
import { afterEach, expect, it } from 'vitest'
import { recordImages } from '@/test/images'
import { layoutLegend, type LegendLine } from './legend'
import { downloadElementPng, downloadPng } from './png'

const line = (label: string, part: Partial<LegendLine> = {}): LegendLine => ({ label, token: '--series-1', dash: 'solid', ...part })
const page = document.documentElement

afterEach(() => {
  page.removeAttribute('style')
  document.body.replaceChildren()
})

it('places the lines of a legend side by side, in as many rows as they need', () => {
  const placed = layoutLegend([line('a'), line('b'), line('c')], () => 60, 220)
  expect(placed.map(({ row, x }) => [row, x])).toEqual([[0, 0], [0, 109], [1, 0]])
  // A label is at most as wide as the row.
  expect(layoutLegend([line('long')], () => 900, 220)[0]?.labelWidth).toBe(220 - 31)
})

it.each(['light', 'dark'])('draws title, legend and chart, in the colors of the %s theme', async (theme) => {
  const images = recordImages()
  const colors = theme === 'light' ? ['#1d5fd8', '#7c8696'] : ['#6ea3ff', '#8d97a6']
  page.style.setProperty('--series-1', colors[0] ?? '')
  page.style.setProperty('--baseline-1', colors[1] ?? '')
  const chart = document.createElement('canvas')
  chart.width = 200
  chart.height = 100
  await downloadPng('equity.png', chart, 'Equity', [line('momentum'), line('cautious', { dash: 'long' }), line('Buy-and-hold', { token: '--baseline-1', dash: 'dashed' })])
  const [image] = images
  expect(image?.texts.map(({ text }) => text)).toEqual(['Equity', 'momentum', 'cautious', 'Buy-and-hold'])
  expect(image?.strokes.map(({ color, dash }) => [color, dash])).toEqual([[colors[0], []], [colors[0], [10, 4]], [colors[1], [5, 3]]])
  // The three lines need three rows of 24 pixels, below the title and above the chart.
  expect(image?.strokes.map(({ y }) => y)).toEqual([48, 72, 96])
  expect(image?.height).toBe(100 + 4 * 24 + 2 * 12)
})

it('has room for a title that is wider than its drawing', async () => {
  const images = recordImages()
  const chart = document.createElement('canvas')
  chart.width = 20
  await downloadPng('a.png', chart, 'A title of 24 characters')
  expect(images[0]?.width).toBe(8 * 24 + 2 * 12)
})

it('draws the borders of an element’s boxes', async () => {
  const images = recordImages()
  const box = document.createElement('div')
  box.innerHTML = '<span style="border-left: 3px solid rgb(1, 2, 3); border-top: 0 none"></span>'
  document.body.append(box)
  const inner = box.firstElementChild
  if (inner) inner.getBoundingClientRect = () => new DOMRect(10, 20, 60, 30)
  await downloadElementPng('box.png', box)
  const fills = images[0]?.fills.filter(({ color }) => color === 'rgb(1, 2, 3)')
  expect(fills).toEqual([{ color: 'rgb(1, 2, 3)', x: 10, y: 20, width: 3, height: 30 }])
})
