// An instrument's bars with what was traded on them.
import { CandlestickSeries, createChart, createSeriesMarkers, HistogramSeries, type IChartApi, type ISeriesApi, type ISeriesMarkersPluginApi, LineSeries, type SeriesMarker, type Time } from 'lightweight-charts'
import { useEffect, useRef } from 'react'
import type { Bar } from '@/server/types'
import { useFormat } from '@/shared/format'
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

interface Drawn {
  chart: IChartApi
  main: ISeriesApi<'Line' | 'Candlestick'>
  volume: ISeriesApi<'Histogram'>
  marks: ISeriesMarkersPluginApi<Time>
}

/** Of more bars a line says more than candles a pixel wide. */
const MOST_CANDLES = 1500

export function PriceChart({ label, bars, fills = NONE, onPick }: Props) {
  const t = useText()
  const format = useFormat()
  const language = useLanguage()
  const settings = useSettings()
  const box = useRef<HTMLDivElement>(null)
  const heard = useRef(onPick)
  const drawn = useRef<Drawn | null>(null)
  const line = bars.length > MOST_CANDLES
  useEffect(() => {
    heard.current = onPick
  })

  useEffect(() => {
    if (!box.current) return
    const chart = createChart(box.current, chartOptions(language === 'zh' ? 'zh-CN' : 'en-GB'))
    const up = resolved('--up')
    const down = resolved('--down')
    const usual = { priceLineVisible: false, lastValueVisible: true }
    const main = line
      ? chart.addSeries(LineSeries, { ...usual, color: resolved('--series-1'), lineWidth: 1 })
      : chart.addSeries(CandlestickSeries, { ...usual, upColor: up, downColor: down, wickUpColor: up, wickDownColor: down, borderVisible: false })
    const volume = chart.addSeries(HistogramSeries, {
      priceScaleId: 'volume',
      color: `${resolved('--baseline-1')}55`,
      priceFormat: { type: 'volume' },
      priceLineVisible: false,
      lastValueVisible: false,
    })
    chart.priceScale('volume').applyOptions({ scaleMargins: { top: 0.86, bottom: 0 } })
    chart.priceScale('right').applyOptions({ scaleMargins: { top: 0.1, bottom: 0.2 } })
    chart.subscribeClick((event) => {
      if (typeof event.time === 'string') heard.current?.(event.time)
    })
    drawn.current = { chart, main, volume, marks: createSeriesMarkers(main, []) }
    return () => {
      drawn.current = null
      chart.remove()
    }
  }, [language, settings, line])

  useEffect(() => {
    if (!drawn.current) return
    const { chart, main, volume } = drawn.current
    const known = bars.filter((bar) => bar.close != null)
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
    volume.setData(known.filter((bar) => bar.volume != null).map((bar) => ({ time: bar.date as Time, value: bar.volume ?? 0 })))
    chart.timeScale().fitContent()
  }, [bars, language, settings, line])

  useEffect(() => {
    const all: SeriesMarker<Time>[] = marks(fills).map((mark) => ({
      time: mark.date as Time,
      position: mark.buys ? 'belowBar' : 'aboveBar',
      shape: mark.buys ? 'arrowUp' : 'arrowDown',
      color: resolved('--accent'),
      text: `${mark.buys ? '+' : '−'}${format.quantity(Math.round(mark.quantity * 100) / 100)}`,
    }))
    drawn.current?.marks.setMarkers(all)
  }, [fills, format, language, settings, line])

  return (
    <figure className="chart">
      <div className="chart-box price" ref={box} role="img" aria-label={t('chart.price', { symbol: label })} />
      <Credit />
    </figure>
  )
}

const NONE: Fill[] = []
