// A stand-in for Lightweight Charts, which needs a canvas: it records what is drawn and shows the range that is set.
import { vi } from 'vitest'

interface Range {
  from: string
  to: string
}

export interface DrawnSeries {
  options: Record<string, unknown>
  data: { time: string; value?: number }[]
}

export interface DrawnChart {
  series: DrawnSeries[]
  /** The mode of the right scale: 1 is logarithmic. */
  mode: number | undefined
  range: Range | 'all' | null
  isRemoved: boolean
}

export const drawnCharts: DrawnChart[] = []

function createChart() {
  const chart: DrawnChart = { series: [], mode: undefined, range: null, isRemoved: false }
  drawnCharts.push(chart)
  let onRange: (range: Range) => void = () => {}
  const add = (options: Record<string, unknown>) => {
    const series: DrawnSeries = { options: { ...options }, data: [] }
    chart.series.push(series)
    return { setData: (data: DrawnSeries['data']) => (series.data = data), applyOptions: (more: object) => Object.assign(series.options, more) }
  }
  const days = () => chart.series.flatMap(({ data }) => data.map(({ time }) => time)).sort()
  return {
    addSeries: (_kind: unknown, options: Record<string, unknown>) => add(options),
    addCustomSeries: (_view: unknown, options: Record<string, unknown>) => add(options),
    priceScale: () => ({ applyOptions: ({ mode }: { mode?: number }) => (chart.mode = mode ?? chart.mode) }),
    timeScale: () => ({
      subscribeVisibleTimeRangeChange: (handler: typeof onRange) => (onRange = handler),
      setVisibleRange: ({ from, to }: Range) => {
        chart.range = { from, to }
        onRange({ from, to })
      },
      fitContent: () => {
        chart.range = 'all'
        onRange({ from: days()[0] ?? '', to: days().at(-1) ?? '' })
      },
    }),
    subscribeCrosshairMove: vi.fn(),
    subscribeClick: vi.fn(),
    applyOptions: vi.fn(),
    panes: () => [],
    takeScreenshot: () => document.createElement('canvas'),
    remove: () => (chart.isRemoved = true),
  }
}

/** What tests mock the library with. */
export const chartLibrary = {
  createChart,
  createSeriesMarkers: () => ({ setMarkers: vi.fn() }),
  customSeriesDefaultOptions: {},
  AreaSeries: 'area',
  LineSeries: 'line',
  ColorType: { Solid: 'solid' },
  LineStyle: { Solid: 0, Dotted: 1, Dashed: 2, LargeDashed: 3 },
  PriceScaleMode: { Normal: 0, Logarithmic: 1 },
}
