// All items on one axis, and below them the cumulative difference of the selected pair with its cone.
import { createChart, type IChartApi, LineSeries } from 'lightweight-charts'
import { useEffect, useMemo, useRef } from 'react'
import { ChartTools } from '@/charts/ChartTools'
import { Credit } from '@/charts/Credit'
import { presetsOf } from '@/charts/ranges'
import { chartOptions, LINE_STYLES, resolveColor } from '@/charts/theme'
import { useChartView } from '@/charts/useChartView'
import type { ComparedItem, ComparedPair } from '@/server/types'
import type { TableData } from '@/shared/csv'
import { type Format, useFormat } from '@/shared/format'
import { LOCALES, useLanguage, useText } from '@/shared/i18n'
import { useSettings } from '@/shared/settings'
import { Band } from './band'
import css from './compare.module.css'
import { bandAround, type BandPoint, coneBand, differenceLine, type Line } from './lines'
import { nameOf } from './words'

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
  const drawn = useRef<IChartApi | null>(null)
  const presets = useMemo(() => presetsFor(lines), [lines])
  const view = useChartView(drawn, presets)
  const handlers = useRef({ onDay, onPick, watch: view.watch })
  useEffect(() => {
    handlers.current = { onDay, onPick, watch: view.watch }
  })
  const around = useMemo(() => (pair ? bandAround(pair, items) : []), [pair, items])
  const hasCone = (pair?.cone.length ?? 0) > 0
  const legend = useMemo(() => (pair && hasCone ? [...lines, differenceOf(pair, `${nameOf(items, pair.a, t)} − ${nameOf(items, pair.b, t)}`)] : lines), [lines, pair, hasCone, items, t])

  useEffect(() => {
    if (!box.current) return
    const chart = createChart(box.current, chartOptions(LOCALES[language], format.day))
    const fit = handlers.current.watch(chart, box.current)
    chart.subscribeCrosshairMove((event) => handlers.current.onDay(typeof event.time === 'string' ? event.time : null))
    chart.subscribeClick((event) => {
      if (typeof event.time === 'string') handlers.current.onPick(event.time)
    })
    const growth: Pane = { index: 0, base: 1, format }
    const difference: Pane = { index: 1, base: 0, format }
    if (around.length > 0) drawBand(chart, around, growth)
    for (const line of lines) drawLine(chart, line, growth)
    if (pair && hasCone) {
      drawBand(chart, coneBand(pair), difference)
      drawLine(chart, zeroOf(pair), difference)
      drawLine(chart, differenceOf(pair, ''), difference)
      const [upper, lower] = chart.panes()
      upper?.setStretchFactor(2)
      lower?.setStretchFactor(1)
    }
    fit()
    drawn.current = chart
    return () => {
      drawn.current = null
      chart.remove()
    }
  }, [lines, pair, around, hasCone, language, settings, format])

  return (
    <figure className="chart">
      <ChartTools
        presets={presets}
        range={view.range}
        onRange={view.onRange}
        log={view.log}
        onLog={view.setLog}
        onReset={view.onReset}
        files={{ what: t('compare.curves'), name: 'comparison-curves', csv: () => fileOf(items, pair), image: () => drawn.current?.takeScreenshot() ?? null, legend }}
      />
      <div className={`chart-box ${hasCone ? css.chartTall : css.chart}`} ref={box} role="img" aria-label={t('compare.chart')} />
      <Credit />
    </figure>
  )
}

function presetsFor(lines: readonly Line[]) {
  const days = lines.flatMap(({ points }) => points.map((point) => point.date)).sort()
  return presetsOf(days[0] ?? '', days.at(-1) ?? '', days.at(-1) ?? '')
}

/** A row for each point: the items' log returns since the start, then the difference of the pair with the cone around zero. */
function fileOf(items: ComparedItem[], pair: ComparedPair | undefined): TableData {
  const lines = items.flatMap((item) => item.curve.map((point) => [item.id, null, point.date, point.log_return, null]))
  const differences = pair ? pair.cone.map((point) => [pair.a, pair.b, point.date, point.cumulated, point.half_width]) : []
  return { columns: ['item', 'against', 'date', 'log_return', 'cone_half_width'], rows: [...lines, ...differences] }
}

interface Pane {
  index: number
  /** What is added to each value: 1 draws returns as growth, so that a log scale is possible. The labels stay returns. */
  base: number
  format: Format
}

const options = ({ base, format }: Pane) => ({
  priceLineVisible: false,
  lastValueVisible: false,
  priceFormat: { type: 'custom' as const, minMove: 0.0001, formatter: (value: number) => format.change(value - base, 1) },
})

function drawLine(chart: IChartApi, { points, token, dash, isReference }: Omit<Line, 'id' | 'label'>, pane: Pane): void {
  const series = chart.addSeries(LineSeries, { ...options(pane), color: resolveColor(token), lineWidth: isReference ? 1 : 2, lineStyle: LINE_STYLES[dash], crosshairMarkerRadius: 3 }, pane.index)
  series.setData(points.map(({ date, value }) => ({ time: date, value: value + pane.base })))
}

function drawBand(chart: IChartApi, points: BandPoint[], pane: Pane): void {
  const series = chart.addCustomSeries(new Band(), { ...options(pane), fill: `${resolveColor('--text-3')}33` }, pane.index)
  series.setData(points.map(({ date, low, high }) => ({ time: date, low: low + pane.base, high: high + pane.base })))
}

function differenceOf(pair: ComparedPair, label: string): Line {
  return { id: 'difference', label, token: '--text', dash: 'solid', isReference: false, points: differenceLine(pair) }
}

function zeroOf(pair: ComparedPair): Omit<Line, 'id' | 'label'> {
  const ends = [pair.cone[0], pair.cone[pair.cone.length - 1]].flatMap((point) => (point ? [{ date: point.date, value: 0 }] : []))
  return { token: '--line-strong', dash: 'dashed', isReference: true, points: ends[0]?.date === ends[1]?.date ? ends.slice(0, 1) : ends }
}
