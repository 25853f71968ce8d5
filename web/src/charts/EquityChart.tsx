// Returns of all agents and baselines over the same days, and how deep each was under its own top.
import { AreaSeries, createChart, type IChartApi, type ISeriesApi, LineSeries, LineStyle, type Time } from 'lightweight-charts'
import { useEffect, useRef } from 'react'
import { type Format, useFormat } from '@/shared/format'
import { useLanguage, useText } from '@/shared/i18n'
import { useSettings } from '@/shared/settings'
import { Credit } from './Credit'
import { drawdown, type Point } from './drawdown'
import { chartOptions, resolved } from './theme'

export interface Curve {
  id: string
  label: string
  token: string
  dashed?: boolean
  points: Point[]
}

interface Props {
  curves: Curve[]
  /** The day under the pointer, or none. */
  onDay?: (date: string | null) => void
  onPick?: (date: string) => void
}

type Series = ISeriesApi<'Line' | 'Area'>
type Drawn = { line: Series; under: Series; points: Point[] }

const QUIET = { priceLineVisible: false, lastValueVisible: false }

/** More than so many agents: their drawdowns are lines, as areas would hide each other. */
const MOST_AREAS = 3

export function EquityChart({ curves, onDay, onPick }: Props) {
  const t = useText()
  const language = useLanguage()
  const settings = useSettings()
  const format = useFormat()
  const box = useRef<HTMLDivElement>(null)
  const heard = useRef({ onDay, onPick })
  const chart = useRef<IChartApi | null>(null)
  const drawn = useRef(new Map<string, Drawn>())
  const zero = useRef<Series | null>(null)
  useEffect(() => {
    heard.current = { onDay, onPick }
  })

  // What a series looks like is fixed when it is made; another look, another chart.
  const areas = curves.filter((curve) => !curve.dashed).length <= MOST_AREAS
  useEffect(() => {
    if (!box.current) return
    const made = createChart(box.current, chartOptions(language === 'zh' ? 'zh-CN' : 'en-GB'))
    made.applyOptions({ rightPriceScale: { scaleMargins: { top: 0.08, bottom: 0.12 } } })
    made.subscribeCrosshairMove((event) => heard.current.onDay?.(typeof event.time === 'string' ? event.time : null))
    made.subscribeClick((event) => {
      if (typeof event.time === 'string') heard.current.onPick?.(event.time)
    })
    chart.current = made
    zero.current = made.addSeries(LineSeries, { ...QUIET, priceFormat: percentOf(format), color: resolved('--line-strong'), lineWidth: 1, crosshairMarkerVisible: false }, 0)
    const lines = drawn.current
    return () => {
      lines.clear()
      chart.current = null
      made.remove()
    }
  }, [language, settings, areas, format])

  useEffect(() => {
    const made = chart.current
    if (!made) return
    const lines = drawn.current
    const fresh = lines.size === 0
    const wanted = new Set(curves.map((curve) => curve.id))
    for (const [id, { line, under }] of lines) {
      if (wanted.has(id)) continue
      made.removeSeries(line)
      made.removeSeries(under)
      lines.delete(id)
    }
    const percent = percentOf(format)
    for (const curve of curves) {
      const known = lines.get(curve.id)
      // A run goes on while one looks at it: what is there stays, with the reader's place in it.
      if (known && known.points === curve.points) continue
      const { line, under } = known ?? add(made, curve, percent, areas && !curve.dashed)
      line.setData(data(curve.points))
      under.setData(data(drawdown(curve.points)))
      lines.set(curve.id, { line, under, points: curve.points })
    }
    const along = curves.reduce<Point[]>((longest, { points }) => (points.length > longest.length ? points : longest), [])
    const ends = along.length > 1 ? [along[0], along[along.length - 1]] : along
    zero.current?.setData(ends.flatMap((point) => (point ? [{ time: point.date as Time, value: 0 }] : [])))
    if (fresh && lines.size > 0) {
      const panes = made.panes()
      panes[0]?.setStretchFactor(3)
      panes[1]?.setStretchFactor(1)
      made.timeScale().fitContent()
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

function data(points: Point[]): { time: Time; value: number }[] {
  return points.map(({ date, value }) => ({ time: date as Time, value }))
}

function add(chart: IChartApi, curve: Curve, priceFormat: object, area: boolean): { line: Series; under: Series } {
  const color = resolved(curve.token)
  const lineStyle = curve.dashed ? LineStyle.Dashed : LineStyle.Solid
  const usual = { ...QUIET, priceFormat } as object
  const line = chart.addSeries(LineSeries, { ...usual, color, lineWidth: curve.dashed ? 1 : 2, lineStyle, crosshairMarkerRadius: 3 }, 0)
  const below = { ...usual, crosshairMarkerVisible: false, lineWidth: 1 as const }
  const under = area
    ? chart.addSeries(AreaSeries, { ...below, lineColor: color, topColor: `${color}05`, bottomColor: `${color}2e`, invertFilledArea: true }, 1)
    : chart.addSeries(LineSeries, { ...below, color, lineStyle }, 1)
  return { line, under }
}
