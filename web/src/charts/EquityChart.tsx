// Returns of all agents and baselines over the same days, and how deep each was under its own top.
import { AreaSeries, createChart, LineSeries, LineStyle, type IChartApi, type ISeriesApi, type Time } from 'lightweight-charts'
import { useEffect, useRef } from 'react'
import { useFormat } from '@/shared/format'
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

export function EquityChart({ curves, onDay, onPick }: Props) {
  const t = useText()
  const language = useLanguage()
  const settings = useSettings()
  const format = useFormat()
  const box = useRef<HTMLDivElement>(null)
  const heard = useRef({ onDay, onPick })
  useEffect(() => {
    heard.current = { onDay, onPick }
  })

  useEffect(() => {
    if (!box.current) return
    const chart: IChartApi = createChart(box.current, chartOptions(language === 'zh' ? 'zh-CN' : 'en-GB'))
    chart.applyOptions({ rightPriceScale: { scaleMargins: { top: 0.08, bottom: 0.06 } } })
    const percent = { type: 'custom' as const, minMove: 0.0001, formatter: (value: number) => format.change(value, 1) }
    const lines: ISeriesApi<'Line' | 'Area'>[] = []
    curves.forEach((curve, index) => {
      const data = curve.points.map(({ date, value }) => ({ time: date as Time, value }))
      const look = {
        color: resolved(curve.token),
        lineWidth: curve.dashed ? (1 as const) : (2 as const),
        lineStyle: curve.dashed ? LineStyle.Dashed : LineStyle.Solid,
        priceFormat: percent,
        priceLineVisible: false,
        lastValueVisible: false,
        crosshairMarkerRadius: 3,
      }
      const line = chart.addSeries(LineSeries, look, 0)
      line.setData(data)
      if (index === 0) {
        line.createPriceLine({ price: 0, color: resolved('--line-strong'), lineWidth: 1, lineStyle: LineStyle.Solid, axisLabelVisible: false, title: '' })
      }
      lines.push(line)
      const under = drawdown(curve.points).map(({ date, value }) => ({ time: date as Time, value }))
      const usual = { priceFormat: percent, priceLineVisible: false, lastValueVisible: false, crosshairMarkerVisible: false }
      if (curve.dashed || curves.length > 3) {
        const thin = { ...usual, color: look.color, lineWidth: 1 as const, lineStyle: look.lineStyle }
        chart.addSeries(LineSeries, thin, 1).setData(under)
      } else {
        const filled = { ...usual, lineColor: look.color, lineWidth: 1 as const, topColor: `${look.color}05`, bottomColor: `${look.color}2e`, invertFilledArea: true }
        chart.addSeries(AreaSeries, filled, 1).setData(under)
      }
    })
    const panes = chart.panes()
    panes[0]?.setStretchFactor(3)
    panes[1]?.setStretchFactor(1)
    chart.timeScale().fitContent()
    chart.subscribeCrosshairMove((event) => heard.current.onDay?.(typeof event.time === 'string' ? event.time : null))
    chart.subscribeClick((event) => {
      if (typeof event.time === 'string') heard.current.onPick?.(event.time)
    })
    return () => chart.remove()
  }, [curves, language, settings, format])

  return (
    <figure className="chart">
      <div className="chart-box equity" ref={box} role="img" aria-label={t('chart.equity')} />
      <Credit />
    </figure>
  )
}
