// Lines over days, with a line at zero.
import { createChart, type IChartApi, LineSeries, type Time } from 'lightweight-charts'
import { useEffect, useRef } from 'react'
import { useFormat } from '@/shared/format'
import { LOCALES, useLanguage } from '@/shared/i18n'
import { useSettings } from '@/shared/settings'
import { Credit } from './Credit'
import { chartOptions, resolveColor } from './theme'

export interface Line {
  id: string
  token: string
  points: { date: string; value: number }[]
}

export function LinesChart({ label, lines, display }: { label: string; lines: Line[]; display: (value: number) => string }) {
  const language = useLanguage()
  const settings = useSettings()
  const format = useFormat()
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!box.current) return
    const chart: IChartApi = createChart(box.current, chartOptions(LOCALES[language], format.day))
    const priceFormat = { type: 'custom' as const, minMove: 0.01, formatter: display }
    const common = { priceLineVisible: false, lastValueVisible: false, priceFormat }
    const dates = [...new Set(lines.flatMap((line) => line.points.map((point) => point.date)))].sort()
    chart
      .addSeries(LineSeries, { ...common, color: resolveColor('--line-strong'), lineWidth: 1, crosshairMarkerVisible: false })
      .setData(dates.map((date) => ({ time: date as Time, value: 0 })))
    for (const line of lines) {
      chart.addSeries(LineSeries, { ...common, color: resolveColor(line.token), lineWidth: 2 }).setData(line.points.map(({ date, value }) => ({ time: date as Time, value })))
    }
    chart.timeScale().fitContent()
    return () => chart.remove()
  }, [lines, display, language, settings, format])
  return (
    <figure className="chart">
      <div className="chart-box lines" ref={box} role="img" aria-label={label} />
      <Credit />
    </figure>
  )
}
