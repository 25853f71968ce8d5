// Returns of all agents and baselines over the same days, and the drawdown of each from its own peak. The axis covers
// all planned days, from the start before the first one.
import { AreaSeries, createChart, createSeriesMarkers, type IChartApi, type ISeriesApi, type ISeriesMarkersPluginApi, LineSeries, type SeriesMarker, type Time } from 'lightweight-charts'
import { memo, useEffect, useMemo, useRef } from 'react'
import type { TableData } from '@/shared/csv'
import { type Format, useFormat } from '@/shared/format'
import { LOCALES, useLanguage, useText } from '@/shared/i18n'
import type { LegendLine } from '@/shared/legend'
import { useSettings } from '@/shared/settings'
import { ChartTools } from './ChartTools'
import { Credit } from './Credit'
import { drawdown, type Point } from './drawdown'
import { presetsOf } from './ranges'
import { chartOptions, LINE_STYLES, resolveColor } from './theme'
import { useChartView } from './useChartView'

export interface Curve extends LegendLine {
  id: string
  /** A baseline or the benchmark, not an agent. */
  isReference?: boolean
  points: Point[]
  /** Days with degraded research. */
  degraded?: string[]
}

interface Props {
  curves: Curve[]
  /** The place of the start on the axis, before the first day. */
  start: string
  /** All planned days. */
  dates: string[]
  /** The day under the pointer, or `null`. */
  onDay?: (date: string | null) => void
  onPick?: (date: string) => void
  /** The name of its files. */
  name?: string
}

type Series = ISeriesApi<'Line' | 'Area'>
interface DrawnCurve {
  line: Series
  drawdownSeries: Series
  marks: ISeriesMarkersPluginApi<Time>
  points: Point[]
  degraded: string[] | undefined
}

const NO_LABELS = { priceLineVisible: false, lastValueVisible: false }

/** The scale covers at least half a percent up and down, so that a flat line looks flat. */
const MIN_SCALE = { priceRange: { minValue: 0.995, maxValue: 1.005 } }

/** With more agents, drawdowns are lines, because areas would hide each other. */
const MAX_AREAS = 3

/** Drawn again only if what it shows has changed: it has tens of thousands of points. */
export const EquityChart = memo(function EquityChart({ curves, start, dates, onDay, onPick, name = 'equity' }: Props) {
  const t = useText()
  const language = useLanguage()
  const settings = useSettings()
  const format = useFormat()
  const box = useRef<HTMLDivElement>(null)
  const handlers = useRef({ onDay, onPick })
  const chart = useRef<IChartApi | null>(null)
  const drawn = useRef(new Map<string, DrawnCurve>())
  const axis = useRef<{ series: Series; days: number }>(null)
  const newest = curves.reduce((latest, { points }) => (latest > (points.at(-1)?.date ?? '') ? latest : (points.at(-1)?.date ?? '')), '')
  const presets = useMemo(() => presetsOf(start, newest, dates.at(-1) ?? newest), [start, newest, dates])
  const view = useChartView(chart, presets)
  const watch = useRef(view.watch)
  useEffect(() => {
    handlers.current = { onDay, onPick }
    watch.current = view.watch
  })

  // The style of a series is fixed when it is created, so a change of style recreates the chart.
  const areas = curves.filter((curve) => !curve.isReference).length <= MAX_AREAS
  useEffect(() => {
    if (!box.current) return
    const created = createChart(box.current, chartOptions(LOCALES[language], (date) => (date === start ? t('chart.start') : format.day(date)), (date) => (date === start ? t('chart.start') : null)))
    created.applyOptions({ rightPriceScale: { scaleMargins: { top: 0.08, bottom: 0.12 } } })
    created.subscribeCrosshairMove((event) => handlers.current.onDay?.(typeof event.time === 'string' ? event.time : null))
    created.subscribeClick((event) => {
      if (typeof event.time === 'string') handlers.current.onPick?.(event.time)
    })
    watch.current(created, box.current)
    chart.current = created
    // The line of no return, on every day of the axis.
    const series = created.addSeries(LineSeries, { ...NO_LABELS, priceFormat: growthOf(format), color: resolveColor('--line-strong'), lineWidth: 1, crosshairMarkerVisible: false, autoscaleInfoProvider: () => MIN_SCALE }, 0)
    axis.current = { series, days: 0 }
    const lines = drawn.current
    return () => {
      lines.clear()
      chart.current = null
      axis.current = null
      created.remove()
    }
  }, [language, settings, areas, format, start, t])

  useEffect(() => {
    const created = chart.current
    if (!created || !axis.current) return
    const lines = drawn.current
    const isNew = lines.size === 0
    const ids = new Set(curves.map((curve) => curve.id))
    for (const [id, { line, drawdownSeries }] of lines) {
      if (ids.has(id)) continue
      created.removeSeries(line)
      created.removeSeries(drawdownSeries)
      lines.delete(id)
    }
    const isExtended = axis.current.days !== dates.length
    if (isExtended) {
      axis.current.series.setData([start, ...dates].map((date) => ({ time: date, value: 1 })))
      axis.current.days = dates.length
    }
    for (const curve of curves) {
      const existing = lines.get(curve.id)
      // The run may continue while the chart is open: update the series, and keep the user's zoom.
      if (existing && existing.points === curve.points && existing.degraded === curve.degraded) continue
      const { line, drawdownSeries, marks } = existing ?? add(created, curve, format, areas && !curve.isReference)
      line.setData(toSeries(curve.points, 1))
      drawdownSeries.setData(toSeries(drawdown(curve.points), 0))
      marks.setMarkers(degradedMarks(curve))
      lines.set(curve.id, { line, drawdownSeries, marks, points: curve.points, degraded: curve.degraded })
    }
    if (isNew && lines.size > 0) {
      const panes = created.panes()
      panes[0]?.setStretchFactor(3)
      panes[1]?.setStretchFactor(1)
    }
    if (isNew || isExtended) created.timeScale().fitContent()
  }, [curves, dates, format, language, settings, areas, start, t])

  return (
    <figure className="chart">
      <ChartTools presets={presets} range={view.range} onRange={view.onRange} log={view.log} onLog={view.setLog} onReset={view.onReset} files={{ what: t('chart.equity'), name, csv: () => fileOf(curves), image: () => chart.current?.takeScreenshot() ?? null, legend: curves }} />
      <div className="chart-box equity" ref={box} role="img" aria-label={t('chart.equity')} />
      {curves.some((curve) => curve.degraded?.length) && <figcaption className="quiet chart-events">{t('chart.degraded')}</figcaption>}
      <Credit />
    </figure>
  )
})

/** A row for each point of each curve. Returns and drawdowns are fractions. */
function fileOf(curves: Curve[]): TableData {
  const rows = curves.flatMap(({ id, points, degraded = [] }) => {
    const days = new Set(degraded)
    const drawdowns = drawdown(points)
    return points.map(({ date, value }, at) => [id, date, value, drawdowns[at]?.value, days.has(date)])
  })
  return { columns: ['curve', 'date', 'total_return', 'drawdown', 'is_degraded'], rows }
}

/** The chart draws growth, so that a log scale is possible. Its labels are returns. */
function growthOf(format: Format) {
  return { type: 'custom' as const, minMove: 0.0001, formatter: (growth: number) => format.change(growth - 1, 1) }
}

function drawdownOf(format: Format) {
  return { type: 'custom' as const, minMove: 0.0001, formatter: (value: number) => format.change(value, 1) }
}

function toSeries(points: Point[], plus: number): { time: Time; value: number }[] {
  return points.map(({ date, value }) => ({ time: date, value: value + plus }))
}

function degradedMarks({ degraded = [] }: Curve): SeriesMarker<Time>[] {
  const color = resolveColor('--amber')
  return degraded.map((date) => ({ time: date, position: 'belowBar', shape: 'square', color, size: 0.5 }))
}

function add(chart: IChartApi, curve: Curve, format: Format, area: boolean): Omit<DrawnCurve, 'points' | 'degraded'> {
  const color = resolveColor(curve.token)
  const lineStyle = LINE_STYLES[curve.dash]
  const line = chart.addSeries(LineSeries, { ...NO_LABELS, priceFormat: growthOf(format), color, lineWidth: curve.isReference ? 1 : 2, lineStyle, crosshairMarkerRadius: 3 }, 0)
  const below = { ...NO_LABELS, priceFormat: drawdownOf(format), crosshairMarkerVisible: false, lineWidth: 1 as const }
  const drawdownSeries = area
    ? chart.addSeries(AreaSeries, { ...below, lineColor: color, topColor: `${color}05`, bottomColor: `${color}2e`, invertFilledArea: true }, 1)
    : chart.addSeries(LineSeries, { ...below, color, lineStyle }, 1)
  return { line, drawdownSeries, marks: createSeriesMarkers(line, []) }
}
