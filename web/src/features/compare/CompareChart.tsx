// All items on one axis, and below them the cumulative difference of the selected pair with its cone.
import { createChart, type IChartApi, LineSeries, LineStyle, type Time } from 'lightweight-charts'
import { useEffect, useMemo, useRef } from 'react'
import { Credit } from '@/charts/Credit'
import { chartOptions, resolveColor } from '@/charts/theme'
import type { ComparedItem, ComparedPair } from '@/server/types'
import type { TableData } from '@/shared/csv'
import { type Format, useFormat } from '@/shared/format'
import { LOCALES, useLanguage, useText } from '@/shared/i18n'
import { useSettings } from '@/shared/settings'
import { ExportMenu } from '@/shared/ui/exportMenu'
import { Band } from './band'
import css from './compare.module.css'
import { bandAround, type BandPoint, coneBand, differenceLine, type Line, type LinePoint } from './lines'

interface Props {
  items: ComparedItem[]
  /** The visible lines. */
  lines: Line[]
  pair: ComparedPair | undefined
  onDay: (date: string | null) => void
  onPick: (date: string) => void
}

export function CompareChart({ items, lines, pair, onDay, onPick }: Props) {
  const t = useText()
  const language = useLanguage()
  const settings = useSettings()
  const format = useFormat()
  const box = useRef<HTMLDivElement>(null)
  const handlers = useRef({ onDay, onPick })
  useEffect(() => {
    handlers.current = { onDay, onPick }
  })
  const drawn = useRef<IChartApi | null>(null)
  const around = useMemo(() => (pair ? bandAround(pair, items) : []), [pair, items])
  const hasCone = (pair?.cone.length ?? 0) > 0

  useEffect(() => {
    if (!box.current) return
    const chart = createChart(box.current, chartOptions(LOCALES[language], format.day))
    chart.subscribeCrosshairMove((event) => handlers.current.onDay(typeof event.time === 'string' ? event.time : null))
    chart.subscribeClick((event) => {
      if (typeof event.time === 'string') handlers.current.onPick(event.time)
    })
    if (around.length > 0) drawBand(chart, around, 0, format)
    for (const line of lines) drawLine(chart, line.points, line.token, line.dashed, 0, format)
    if (pair && hasCone) {
      drawBand(chart, coneBand(pair), 1, format)
      drawZero(chart, pair, format)
      drawLine(chart, differenceLine(pair), '--text', false, 1, format)
      const [upper, lower] = chart.panes()
      upper?.setStretchFactor(2)
      lower?.setStretchFactor(1)
    }
    chart.timeScale().fitContent()
    drawn.current = chart
    return () => {
      drawn.current = null
      chart.remove()
    }
  }, [lines, pair, around, hasCone, language, settings, format])

  return (
    <figure className="chart">
      <div className="chart-tools row">
        <ExportMenu what={t('compare.curves')} name="comparison-curves" csv={() => fileOf(items, pair)} image={() => drawn.current?.takeScreenshot() ?? null} />
      </div>
      <div className={`chart-box ${hasCone ? css.chartTall : css.chart}`} ref={box} role="img" aria-label={t('compare.chart')} />
      <Credit />
    </figure>
  )
}

/** A row for each point: the items' log returns since the start, then the difference of the pair with the cone around zero. */
function fileOf(items: ComparedItem[], pair: ComparedPair | undefined): TableData {
  const lines = items.flatMap((item) => item.curve.map((point) => [item.id, null, point.date, point.log_return, null]))
  const differences = pair ? pair.cone.map((point) => [pair.a, pair.b, point.date, point.cumulated, point.half_width]) : []
  return { columns: ['item', 'against', 'date', 'log_return', 'cone_half_width'], rows: [...lines, ...differences] }
}

const options = (format: Format) => ({
  priceLineVisible: false,
  lastValueVisible: false,
  priceFormat: { type: 'custom' as const, minMove: 0.0001, formatter: (value: number) => format.change(value, 1) },
})

function drawLine(chart: IChartApi, points: LinePoint[], token: string, dashed: boolean, pane: number, format: Format): void {
  const series = chart.addSeries(LineSeries, { ...options(format), color: resolveColor(token), lineWidth: dashed ? 1 : 2, lineStyle: dashed ? LineStyle.Dashed : LineStyle.Solid, crosshairMarkerRadius: 3 }, pane)
  series.setData(points.map(({ date, value }) => ({ time: date as Time, value })))
}

function drawBand(chart: IChartApi, points: BandPoint[], pane: number, format: Format): void {
  const series = chart.addCustomSeries(new Band(), { ...options(format), fill: `${resolveColor('--text-3')}33` }, pane)
  series.setData(points.map(({ date, low, high }) => ({ time: date as Time, low, high })))
}

function drawZero(chart: IChartApi, pair: ComparedPair, format: Format): void {
  const ends = [pair.cone[0], pair.cone[pair.cone.length - 1]].flatMap((point) => (point ? [{ date: point.date, value: 0 }] : []))
  drawLine(chart, ends[0]?.date === ends[1]?.date ? ends.slice(0, 1) : ends, '--line-strong', true, 1, format)
}
