// Returns of all agents and baselines over the same days, and the drawdown of each from its own peak.
import { AreaSeries, createChart, type IChartApi, type ISeriesApi, LineSeries, LineStyle, type Time } from 'lightweight-charts'
import { useEffect, useRef } from 'react'
import { type Format, useFormat } from '@/shared/format'
import { LOCALES, useLanguage, useText } from '@/shared/i18n'
import { useSettings } from '@/shared/settings'
import { Credit } from './Credit'
import { drawdown, type Point } from './drawdown'
import { chartOptions, resolveColor } from './theme'

export interface Curve {
  id: string
  label: string
  token: string
  dashed?: boolean
  points: Point[]
}

interface Props {
  curves: Curve[]
  /** The day under the pointer, or `null`. */
  onDay?: (date: string | null) => void
  onPick?: (date: string) => void
}

type Series = ISeriesApi<'Line' | 'Area'>
type DrawnCurve = { line: Series; drawdownSeries: Series; points: Point[] }

const NO_LABELS = { priceLineVisible: false, lastValueVisible: false }

/** With more agents, drawdowns are lines, because areas would hide each other. */
const MAX_AREAS = 3

export function EquityChart({ curves, onDay, onPick }: Props) {
  const t = useText()
  const language = useLanguage()
  const settings = useSettings()
  const format = useFormat()
  const box = useRef<HTMLDivElement>(null)
  const handlers = useRef({ onDay, onPick })
  const chart = useRef<IChartApi | null>(null)
  const drawn = useRef(new Map<string, DrawnCurve>())
  const zero = useRef<Series | null>(null)
  useEffect(() => {
    handlers.current = { onDay, onPick }
  })

  // The style of a series is fixed when it is created, so a change of style recreates the chart.
  const areas = curves.filter((curve) => !curve.dashed).length <= MAX_AREAS
  useEffect(() => {
    if (!box.current) return
    const created = createChart(box.current, chartOptions(LOCALES[language], format.day))
    created.applyOptions({ rightPriceScale: { scaleMargins: { top: 0.08, bottom: 0.12 } } })
    created.subscribeCrosshairMove((event) => handlers.current.onDay?.(typeof event.time === 'string' ? event.time : null))
    created.subscribeClick((event) => {
      if (typeof event.time === 'string') handlers.current.onPick?.(event.time)
    })
    chart.current = created
    zero.current = created.addSeries(LineSeries, { ...NO_LABELS, priceFormat: percentOf(format), color: resolveColor('--line-strong'), lineWidth: 1, crosshairMarkerVisible: false }, 0)
    const lines = drawn.current
    return () => {
      lines.clear()
      chart.current = null
      created.remove()
    }
  }, [language, settings, areas, format])

  useEffect(() => {
    const created = chart.current
    if (!created) return
    const lines = drawn.current
    const isNew = lines.size === 0
    const ids = new Set(curves.map((curve) => curve.id))
    for (const [id, { line, drawdownSeries }] of lines) {
      if (ids.has(id)) continue
      created.removeSeries(line)
      created.removeSeries(drawdownSeries)
      lines.delete(id)
    }
    const percent = percentOf(format)
    for (const curve of curves) {
      const existing = lines.get(curve.id)
      // The run may continue while the chart is open: update the series, and keep the user's zoom.
      if (existing && existing.points === curve.points) continue
      const { line, drawdownSeries } = existing ?? add(created, curve, percent, areas && !curve.dashed)
      line.setData(toSeries(curve.points))
      drawdownSeries.setData(toSeries(drawdown(curve.points)))
      lines.set(curve.id, { line, drawdownSeries, points: curve.points })
    }
    const longestCurve = curves.reduce<Point[]>((longest, { points }) => (points.length > longest.length ? points : longest), [])
    const endpoints = longestCurve.length > 1 ? [longestCurve[0], longestCurve[longestCurve.length - 1]] : longestCurve
    zero.current?.setData(endpoints.flatMap((point) => (point ? [{ time: point.date as Time, value: 0 }] : [])))
    if (isNew && lines.size > 0) {
      const panes = created.panes()
      panes[0]?.setStretchFactor(3)
      panes[1]?.setStretchFactor(1)
      created.timeScale().fitContent()
    }
  }, [curves, format, language, settings, areas])

  return (
    <figure className="chart">
      <div className="chart-box equity" ref={box} role="img" aria-label={t('chart.equity')} />
      <Credit />
    </figure>
  )
}

function percentOf(format: Format) {
  return { type: 'custom' as const, minMove: 0.0001, formatter: (value: number) => format.change(value, 1) }
}

function toSeries(points: Point[]): { time: Time; value: number }[] {
  return points.map(({ date, value }) => ({ time: date as Time, value }))
}

function add(chart: IChartApi, curve: Curve, priceFormat: object, area: boolean): { line: Series; drawdownSeries: Series } {
  const color = resolveColor(curve.token)
  const lineStyle = curve.dashed ? LineStyle.Dashed : LineStyle.Solid
  const common = { ...NO_LABELS, priceFormat } as object
  const line = chart.addSeries(LineSeries, { ...common, color, lineWidth: curve.dashed ? 1 : 2, lineStyle, crosshairMarkerRadius: 3 }, 0)
  const below = { ...common, crosshairMarkerVisible: false, lineWidth: 1 as const }
  const drawdownSeries = area
    ? chart.addSeries(AreaSeries, { ...below, lineColor: color, topColor: `${color}05`, bottomColor: `${color}2e`, invertFilledArea: true }, 1)
    : chart.addSeries(LineSeries, { ...below, color, lineStyle }, 1)
  return { line, drawdownSeries }
}
