// Lines over days, with a line at zero.
import { createChart, type IChartApi, type ISeriesApi, LineSeries } from 'lightweight-charts'
import { useEffect, useMemo, useRef } from 'react'
import { useFormat } from '@/shared/format'
import { LOCALES, useLanguage } from '@/shared/i18n'
import type { LegendLine } from '@/shared/legend'
import { useSettings } from '@/shared/settings'
import { ChartTools } from './ChartTools'
import { Credit } from './Credit'
import type { Point } from './drawdown'
import { presetsOf } from './ranges'
import { chartOptions, LINE_STYLES, resolveColor } from './theme'
import { useChartView } from './useChartView'

export interface Line extends LegendLine {
  id: string
  points: Point[]
}

interface Props {
  label: string
  /** The name of its files. */
  name: string
  /** What the values are, as a column of the file. */
  value: string
  lines: Line[]
  display: (value: number) => string
  /** The day under the pointer, or `null`. */
  onDay?: (date: string | null) => void
}

export function LinesChart({ label, name, value, lines, display, onDay }: Props) {
  const language = useLanguage()
  const settings = useSettings()
  const format = useFormat()
  const box = useRef<HTMLDivElement>(null)
  const drawn = useRef<IChartApi | null>(null)
  const zero = useRef<ISeriesApi<'Line'> | null>(null)
  const dates = useMemo(() => [...new Set(lines.flatMap((line) => line.points.map((point) => point.date)))].sort(), [lines])
  const presets = useMemo(() => presetsOf(dates[0] ?? '', dates.at(-1) ?? '', dates.at(-1) ?? ''), [dates])
  const canLog = useMemo(() => lines.every((line) => line.points.every((point) => point.value > 0)), [lines])
  const view = useChartView(drawn, presets, canLog)
  const handlers = useRef({ onDay, watch: view.watch })
  useEffect(() => {
    handlers.current = { onDay, watch: view.watch }
  })
  useEffect(() => {
    if (!box.current) return
    const chart = createChart(box.current, chartOptions(LOCALES[language], format.day))
    const fit = handlers.current.watch(chart, box.current)
    chart.subscribeCrosshairMove((event) => handlers.current.onDay?.(typeof event.time === 'string' ? event.time : null))
    const priceFormat = { type: 'custom' as const, minMove: 0.01, formatter: display }
    const common = { priceLineVisible: false, lastValueVisible: false, priceFormat }
    zero.current = chart.addSeries(LineSeries, { ...common, color: resolveColor('--line-strong'), lineWidth: 1, crosshairMarkerVisible: false })
    zero.current.setData(dates.map((date) => ({ time: date, value: 0 })))
    for (const line of lines) {
      const series = chart.addSeries(LineSeries, { ...common, color: resolveColor(line.token), lineWidth: 2, lineStyle: LINE_STYLES[line.dash] })
      series.setData(line.points.map((point) => ({ time: point.date, value: point.value })))
    }
    fit()
    drawn.current = chart
    return () => {
      drawn.current = null
      zero.current = null
      chart.remove()
    }
  }, [lines, dates, display, language, settings, format])
  // Zero has no logarithm. The effect also applies to a chart that was just created.
  useEffect(() => {
    zero.current?.applyOptions({ visible: !view.log })
  })
  const csv = () => ({ columns: ['line', 'date', value], rows: lines.flatMap((line) => line.points.map((point) => [line.id, point.date, point.value])) })
  return (
    <figure className="chart">
      <ChartTools
        presets={presets}
        range={view.range}
        onRange={view.onRange}
        canLog={canLog}
        log={view.log}
        onLog={view.setLog}
        onReset={view.onReset}
        files={{ what: label, name, csv, image: () => drawn.current?.takeScreenshot() ?? null, legend: lines }}
      />
      <div className="chart-box lines" ref={box} role="img" aria-label={label} />
      <Credit />
    </figure>
  )
}
