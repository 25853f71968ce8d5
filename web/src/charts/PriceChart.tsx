// An instrument's bars with what was traded on them.
import { CandlestickSeries, createChart, createSeriesMarkers, HistogramSeries, type IChartApi, type ISeriesApi, type ISeriesMarkersPluginApi, LineSeries, type SeriesMarker, type Time } from 'lightweight-charts'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Bar, ShareEvent } from '@/server/types'
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
  /** Splits and dividends. */
  events?: ShareEvent[]
  /** The days that are to be in sight; all of them where none are named. */
  span?: { from: string; to: string } | null
  /** A day that stands out. */
  marked?: string | undefined
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

export function PriceChart({ label, bars, fills = NONE, events = NO_EVENTS, span = null, marked, onPick }: Props) {
  const t = useText()
  const format = useFormat()
  const language = useLanguage()
  const settings = useSettings()
  const box = useRef<HTMLDivElement>(null)
  const heard = useRef(onPick)
  const drawn = useRef<Drawn | null>(null)
  // Who comes by a link to a day sees what is near it; choosing a day that is in sight moves nothing.
  const [first] = useState(marked)
  const known = useMemo(() => bars.filter((bar) => bar.close != null), [bars])
  const near = useMemo(() => span ?? (first === undefined ? null : around(known, first)), [span, known, first])
  const line = (near ? known.filter((bar) => bar.date >= near.from && bar.date <= near.to).length : known.length) > MOST_CANDLES
  useEffect(() => {
    heard.current = onPick
  })

  useEffect(() => {
    if (!box.current) return
    const chart = createChart(box.current, chartOptions(language === 'zh' ? 'zh-CN' : 'en-GB'))
    const up = resolved('--up')
    const down = resolved('--down')
    const figures = new Intl.NumberFormat(language === 'zh' ? 'zh-CN' : 'en-GB', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
    // Below the bars there is room for the volume, and no price.
    const priceFormat = { type: 'custom', minMove: 0.01, formatter: (price: number) => (price < 0 ? '' : figures.format(price)) } as const
    const usual = { priceLineVisible: false, lastValueVisible: true, priceFormat }
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
    show(chart, known, near)
  }, [known, near, language, settings, line])

  useEffect(() => {
    const chart = drawn.current?.chart
    const seen = chart?.timeScale().getVisibleRange()
    if (!chart || !seen || marked === undefined) return
    if (marked < String(seen.from) || marked > String(seen.to)) show(chart, known, around(known, marked))
  }, [known, marked])

  useEffect(() => {
    const all: SeriesMarker<Time>[] = marks(fills).map((mark) => ({
      time: mark.date as Time,
      position: mark.buys ? 'belowBar' : 'aboveBar',
      shape: mark.buys ? 'arrowUp' : 'arrowDown',
      color: resolved('--accent'),
      text: `${mark.buys ? '+' : '−'}${format.quantity(Math.round(mark.quantity * 100) / 100)}`,
    }))
    for (const event of events) {
      const text = event.kind === 'split' ? t('chart.split', { ratio: ratioOf(event) }) : t(event.kind === 'delisting' ? 'chart.delisting' : 'chart.dividend')
      all.push({ time: event.date as Time, position: 'belowBar', shape: 'square', color: resolved(event.kind === 'split' ? '--amber' : '--baseline-1'), text, size: event.kind === 'split' ? 1 : 0.5 })
    }
    if (marked !== undefined && known.some((bar) => bar.date === marked)) all.push({ time: marked as Time, position: 'aboveBar', shape: 'circle', color: resolved('--accent'), text: format.day(marked) })
    all.sort((a, b) => String(a.time).localeCompare(String(b.time)))
    drawn.current?.marks.setMarkers(all)
  }, [fills, events, format, t, known, marked, language, settings, line])

  return (
    <figure className="chart">
      <div className="chart-box price" ref={box} role="img" aria-label={t('chart.price', { symbol: label })} />
      {events.length > 0 && <Events events={events} />}
      <Credit />
    </figure>
  )
}

/** What the marks of splits and dividends say, for who cannot see them. */
function Events({ events }: { events: ShareEvent[] }) {
  const t = useText()
  const format = useFormat()
  const splits = events.filter((event) => event.kind === 'split').map((event) => `${format.day(event.date)} ${ratioOf(event)}`)
  const dividends = events.length - splits.length
  return (
    <figcaption className="quiet chart-events">
      {[splits.length > 0 && t('chart.splits', { splits: splits.join(', ') }), dividends > 0 && t('chart.dividends', { count: dividends })].filter(Boolean).join(' · ')}
    </figcaption>
  )
}

/** `2:1`: two new shares for one old. */
function ratioOf({ ratio }: ShareEvent): string {
  const figure = (value: number) => String(Math.round(value * 10_000) / 10_000)
  return ratio == null ? '' : ratio >= 1 ? `${figure(ratio)}:1` : `1:${figure(1 / ratio)}`
}

/** Brings days into sight; all of them, where none of the bars is of these. */
function show(chart: IChartApi, bars: Bar[], near: { from: string; to: string } | null) {
  if (near && bars.some((bar) => bar.date >= near.from) && bars.some((bar) => bar.date <= near.to)) {
    chart.timeScale().setVisibleRange({ from: near.from as Time, to: near.to as Time })
  } else chart.timeScale().fitContent()
}

/** Some bars before and after a day. */
function around(bars: Bar[], day: string): { from: string; to: string } | null {
  const at = bars.findIndex((bar) => bar.date >= day)
  if (at < 0) return null
  const from = bars[Math.max(0, at - AROUND)]
  const to = bars[Math.min(bars.length - 1, at + AROUND)]
  return from && to ? { from: from.date, to: to.date } : null
}

const AROUND = 60

const NONE: Fill[] = []
const NO_EVENTS: ShareEvent[] = []
