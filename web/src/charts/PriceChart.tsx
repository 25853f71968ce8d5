// An instrument's bars with what was traded on them.
import { CandlestickSeries, createChart, createSeriesMarkers, HistogramSeries, LineSeries, type SeriesMarker, type Time } from 'lightweight-charts'
import { useEffect, useRef } from 'react'
import type { Bar } from '@/server/types'
import { useLanguage, useText } from '@/shared/i18n'
import { useSettings } from '@/shared/settings'
import { Credit } from './Credit'
import { type Fill, marks } from './marks'
import { chartOptions, resolved } from './theme'

interface Props {
  label: string
  bars: Bar[]
  fills?: Fill[]
  onPick?: (date: string) => void
}

export function PriceChart({ label, bars, fills = NONE, onPick }: Props) {
  const t = useText()
  const language = useLanguage()
  const settings = useSettings()
  const box = useRef<HTMLDivElement>(null)
  const heard = useRef(onPick)
  useEffect(() => {
    heard.current = onPick
  })

  useEffect(() => {
    if (!box.current) return
    const chart = createChart(box.current, chartOptions(language === 'zh' ? 'zh-CN' : 'en-GB'))
    const up = resolved('--up')
    const down = resolved('--down')
    const known = bars.filter((bar) => bar.close != null)
    const drawn = { priceLineVisible: false, lastValueVisible: true }
    const main =
      known.length > 1500
        ? chart.addSeries(LineSeries, { ...drawn, color: resolved('--series-1'), lineWidth: 1 })
        : chart.addSeries(CandlestickSeries, { ...drawn, upColor: up, downColor: down, wickUpColor: up, wickDownColor: down, borderVisible: false })
    main.setData(
      known.map((bar) => ({
        time: bar.date as Time,
        open: bar.open,
        high: bar.high ?? bar.open,
        low: bar.low ?? bar.open,
        close: bar.close ?? bar.open,
        value: bar.close ?? bar.open,
      })),
    )
    const volume = chart.addSeries(HistogramSeries, {
      priceScaleId: 'volume',
      color: `${resolved('--baseline-1')}55`,
      priceFormat: { type: 'volume' },
      priceLineVisible: false,
      lastValueVisible: false,
    })
    volume.setData(known.filter((bar) => bar.volume != null).map((bar) => ({ time: bar.date as Time, value: bar.volume ?? 0 })))
    chart.priceScale('volume').applyOptions({ scaleMargins: { top: 0.86, bottom: 0 } })
    chart.priceScale('right').applyOptions({ scaleMargins: { top: 0.1, bottom: 0.2 } })
    const drawnMarks: SeriesMarker<Time>[] = marks(fills).map((mark) => ({
      time: mark.date as Time,
      position: mark.buys ? 'belowBar' : 'aboveBar',
      shape: mark.buys ? 'arrowUp' : 'arrowDown',
      color: resolved('--accent'),
      text: `${mark.buys ? '+' : '−'}${Math.round(mark.quantity * 100) / 100}`,
    }))
    createSeriesMarkers(main, drawnMarks)
    chart.timeScale().fitContent()
    chart.subscribeClick((event) => {
      if (typeof event.time === 'string') heard.current?.(event.time)
    })
    return () => chart.remove()
  }, [bars, fills, language, settings])

  return (
    <figure className="chart">
      <div className="chart-box price" ref={box} role="img" aria-label={t('chart.price', { symbol: label })} />
      <Credit />
    </figure>
  )
}

const NONE: Fill[] = []
