// Lines over days, with a line at zero.
import { createChart, type IChartApi, LineSeries, type Time } from 'lightweight-charts'
import { type RefObject, useEffect, useRef } from 'react'
import { useFormat } from '@/shared/format'
import { LOCALES, useLanguage } from '@/shared/i18n'
import { useSettings } from '@/shared/settings'
import { ExportMenu } from '@/shared/ui/exportMenu'
import { Credit } from './Credit'
import { chartOptions, resolveColor } from './theme'

export interface Line {
  id: string
  token: string
  points: { date: string; value: number }[]
}

interface Props {
  label: string
  /** The name of its files. */
  name: string
  /** What the values are, as a column of the file. */
  value: string
  lines: Line[]
  display: (value: number) => string
}

export function LinesChart({ label, name, value, lines, display }: Props) {
  const language = useLanguage()
  const settings = useSettings()
  const format = useFormat()
  const box = useRef<HTMLDivElement>(null)
  const drawn: RefObject<IChartApi | null> = useRef(null)
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
    drawn.current = chart
    return () => {
      drawn.current = null
      chart.remove()
    }
  }, [lines, display, language, settings, format])
  return (
    <figure className="chart">
      <div className="chart-tools row">
        <ExportMenu what={label} name={name} csv={() => ({ columns: ['line', 'date', value], rows: lines.flatMap((line) => line.points.map((point) => [line.id, point.date, point.value])) })} image={() => drawn.current?.takeScreenshot() ?? null} />
      </div>
      <div className="chart-box lines" ref={box} role="img" aria-label={label} />
      <Credit />
    </figure>
  )
}
