// An instrument's bars, with fills, corporate actions and degraded days.
import { CandlestickSeries, createChart, createSeriesMarkers, HistogramSeries, type IChartApi, type ISeriesApi, type ISeriesMarkersPluginApi, LineSeries, type SeriesMarker, type Time } from 'lightweight-charts'
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import type { Bar, ShareEvent } from '@/server/types'
import type { TableData } from '@/shared/csv'
import { fileName } from '@/shared/fileName'
import { signClass, useFormat } from '@/shared/format'
import { LOCALES, useLanguage, useText } from '@/shared/i18n'
import { useSettings } from '@/shared/settings'
import { ChartTools } from './ChartTools'
import { Credit } from './Credit'
import { type Fill, marks } from './marks'
import { presetsOf } from './ranges'
import { chartOptions, resolveColor } from './theme'
import { useChartView } from './useChartView'

interface Props {
  label: string
  bars: Bar[]
  fills?: Fill[]
  /** Splits and dividends. */
  events?: ShareEvent[]
  /** Days with degraded research. */
  degraded?: string[]
  /** The visible days; all days by default. */
  span?: { from: string; to: string } | null
  /** A highlighted day. */
  marked?: string | undefined
  onPick?: (date: string) => void
}

interface Drawn {
  chart: IChartApi
  main: ISeriesApi<'Line' | 'Candlestick'>
  volume: ISeriesApi<'Histogram'>
  marks: ISeriesMarkersPluginApi<Time>
}

/** With more bars, a line is more readable than candles one pixel wide. */
const MAX_CANDLES = 1500

export function PriceChart({ label, bars, fills = NONE, events = NO_EVENTS, degraded = NO_DAYS, span = null, marked, onPick }: Props) {
  const t = useText()
  const format = useFormat()
  const language = useLanguage()
  const settings = useSettings()
  const box = useRef<HTMLDivElement>(null)
  const onPickRef = useRef(onPick)
  const drawn = useRef<Drawn | null>(null)
  const chartRef = useRef<IChartApi | null>(null)
  // Runs at each pointer move, so it bypasses React.
  const readout = useRef<(date: string | null) => void>(() => {})
  // A link to a day zooms to the days around it. Selecting a visible day does not move the chart.
  const [first] = useState(marked)
  const closed = useMemo(() => bars.filter((bar) => bar.close != null), [bars])
  const visible = useMemo(() => span ?? (first === undefined ? null : rangeAround(closed, first)), [span, closed, first])
  const line = (visible ? closed.filter((bar) => bar.date >= visible.from && bar.date <= visible.to).length : closed.length) > MAX_CANDLES
  const presets = useMemo(() => presetsOf(closed[0]?.date ?? '', closed.at(-1)?.date ?? '', closed.at(-1)?.date ?? ''), [closed])
  const view = useChartView(chartRef, presets)
  const watch = useRef(view.watch)
  useEffect(() => {
    onPickRef.current = onPick
    watch.current = view.watch
  })

  useEffect(() => {
    if (!box.current) return
    const chart = createChart(box.current, chartOptions(LOCALES[language], format.day))
    const up = resolveColor('--up')
    const down = resolveColor('--down')
    const priceNumber = new Intl.NumberFormat(LOCALES[language], { minimumFractionDigits: 2, maximumFractionDigits: 2 })
    // The area below the bars shows the volume and has no price labels.
    const priceFormat = { type: 'custom', minMove: 0.01, formatter: (price: number) => (price < 0 ? '' : priceNumber.format(price)) } as const
    const common = { priceLineVisible: false, lastValueVisible: true, priceFormat }
    const main = line
      ? chart.addSeries(LineSeries, { ...common, color: resolveColor('--series-1'), lineWidth: 1 })
      : chart.addSeries(CandlestickSeries, { ...common, upColor: up, downColor: down, wickUpColor: up, wickDownColor: down, borderVisible: false })
    const volume = chart.addSeries(HistogramSeries, {
      priceScaleId: 'volume',
      color: `${resolveColor('--baseline-1')}55`,
      priceFormat: { type: 'volume' },
      priceLineVisible: false,
      lastValueVisible: false,
    })
    chart.priceScale('volume').applyOptions({ scaleMargins: { top: 0.86, bottom: 0 } })
    chart.priceScale('right').applyOptions({ scaleMargins: { top: 0.1, bottom: 0.2 } })
    chart.subscribeClick((event) => {
      if (typeof event.time === 'string') onPickRef.current?.(event.time)
    })
    chart.subscribeCrosshairMove((event) => readout.current(typeof event.time === 'string' ? event.time : null))
    watch.current(chart, box.current)
    chartRef.current = chart
    drawn.current = { chart, main, volume, marks: createSeriesMarkers(main, []) }
    return () => {
      drawn.current = null
      chartRef.current = null
      chart.remove()
    }
  }, [language, settings, line, format])

  useEffect(() => {
    if (!drawn.current) return
    const { chart, main, volume } = drawn.current
    main.setData(
      closed.map((bar) => ({
        time: bar.date as Time,
        open: bar.open,
        high: bar.high ?? bar.open,
        low: bar.low ?? bar.open,
        close: bar.close ?? bar.open,
        value: bar.close ?? bar.open,
      })),
    )
    volume.setData(closed.filter((bar) => bar.volume != null).map((bar) => ({ time: bar.date as Time, value: bar.volume ?? 0 })))
    show(chart, closed, visible)
  }, [closed, visible, language, settings, line, format])

  useEffect(() => {
    const chart = drawn.current?.chart
    const visibleRange = chart?.timeScale().getVisibleRange()
    if (!chart || !visibleRange || marked === undefined) return
    if (marked < String(visibleRange.from) || marked > String(visibleRange.to)) show(chart, closed, rangeAround(closed, marked))
  }, [closed, marked])

  useEffect(() => {
    const all: SeriesMarker<Time>[] = marks(fills).map((mark) => ({
      time: mark.date as Time,
      position: mark.buys ? 'belowBar' : 'aboveBar',
      shape: mark.buys ? 'arrowUp' : 'arrowDown',
      color: resolveColor('--accent'),
      text: `${mark.buys ? '+' : '−'}${format.quantity(Math.round(mark.quantity * 100) / 100)}`,
    }))
    for (const event of events) {
      const text = event.kind === 'split' ? t('chart.split', { ratio: ratioOf(event) }) : t(event.kind === 'delisting' ? 'chart.delisting' : 'chart.dividend')
      all.push({ time: event.date as Time, position: 'belowBar', shape: 'square', color: resolveColor(event.kind === 'split' ? '--amber' : '--baseline-1'), text, size: event.kind === 'split' ? 1 : 0.5 })
    }
    const days = new Set(closed.map((bar) => bar.date))
    for (const date of degraded) {
      if (days.has(date)) all.push({ time: date as Time, position: 'aboveBar', shape: 'square', color: resolveColor('--amber'), size: 0.5 })
    }
    if (marked !== undefined && closed.some((bar) => bar.date === marked)) all.push({ time: marked as Time, position: 'aboveBar', shape: 'circle', color: resolveColor('--accent'), text: format.day(marked) })
    all.sort((a, b) => String(a.time).localeCompare(String(b.time)))
    drawn.current?.marks.setMarkers(all)
  }, [fills, events, degraded, format, t, closed, marked, language, settings, line])

  return (
    <figure className="chart">
      <div className="row wrap chart-head">
        <Readout bars={closed} at={readout} />
        <ChartTools presets={presets} range={view.range} onRange={view.onRange} log={view.log} onLog={view.setLog} onReset={view.onReset} files={{ what: t('chart.price', { symbol: label }), name: fileName('prices', label), csv: () => fileOf(label, bars, fills, events, degraded), image: () => chartRef.current?.takeScreenshot() ?? null }} />
      </div>
      <div className="chart-box price" ref={box} role="img" aria-label={t('chart.price', { symbol: label })} />
      {events.length > 0 && <Events events={events} />}
      {degraded.length > 0 && <figcaption className="quiet chart-events">{t('chart.degraded')}</figcaption>}
      <Credit />
    </figure>
  )
}

/** A row for each bar, with what happened on its day. Prices are as traded. */
function fileOf(symbol: string, bars: Bar[], fills: Fill[], events: ShareEvent[], degraded: string[]): TableData {
  const filled = marks(fills)
  const quantity = (date: string, buys: boolean) => filled.find((fill) => fill.date === date && fill.buys === buys)?.quantity
  const eventOf = (date: string, kind: string) => events.find((event) => event.date === date && event.kind === kind)
  const days = new Set(degraded)
  return {
    columns: ['symbol', 'date', 'open', 'high', 'low', 'close', 'volume', 'bought_quantity', 'sold_quantity', 'split_ratio', 'dividend_per_share', 'is_degraded'],
    rows: bars.map(({ date, open, high, low, close, volume }) => [
      symbol, date, open, high, low, close, volume,
      quantity(date, true), quantity(date, false), eventOf(date, 'split')?.ratio, eventOf(date, 'dividend')?.amount, days.has(date),
    ]),
  }
}

/** The bar under the pointer, else the newest. */
function Readout({ bars, at }: { bars: Bar[]; at: RefObject<(date: string | null) => void> }) {
  const t = useText()
  const format = useFormat()
  const [date, setDate] = useState<string | null>(null)
  useEffect(() => {
    at.current = setDate
  }, [at])
  const found = date === null ? -1 : bars.findIndex((bar) => bar.date === date)
  const index = found < 0 ? bars.length - 1 : found
  const bar = bars[index]
  if (!bar) return null
  const before = bars[index - 1]?.close
  const change = bar.close != null && before ? bar.close / before - 1 : null
  const values = [['open', bar.open], ['high', bar.high], ['low', bar.low], ['close', bar.close]] as const
  return (
    <div className="row wrap readout tnum grow" aria-live="off">
      <span className="second">{format.day(bar.date)}</span>
      {values.map(([name, value]) => (
        <span key={name}>
          <span className="quiet">{t(`chart.bar.${name}`)}</span> {format.price(value)}
        </span>
      ))}
      <span className={signClass(change)}>{format.change(change)}</span>
      {bar.volume != null && (
        <span>
          <span className="quiet">{t('chart.bar.volume')}</span> {format.compact(bar.volume)}
        </span>
      )}
    </div>
  )
}

/** The marks of splits and dividends as text, for screen readers. */
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

/** `2:1`: two new shares for one old share. */
function ratioOf({ ratio }: ShareEvent): string {
  const rounded = (value: number) => String(Math.round(value * 10_000) / 10_000)
  return ratio == null ? '' : ratio >= 1 ? `${rounded(ratio)}:1` : `1:${rounded(1 / ratio)}`
}

/** Zooms to the given days, or to all bars if none are in range. */
function show(chart: IChartApi, bars: Bar[], visible: { from: string; to: string } | null) {
  if (visible && bars.some((bar) => bar.date >= visible.from) && bars.some((bar) => bar.date <= visible.to)) {
    chart.timeScale().setVisibleRange({ from: visible.from as Time, to: visible.to as Time })
  } else chart.timeScale().fitContent()
}

/** Some bars before and after a day. */
function rangeAround(bars: Bar[], day: string): { from: string; to: string } | null {
  const at = bars.findIndex((bar) => bar.date >= day)
  if (at < 0) return null
  const from = bars[Math.max(0, at - BARS_AROUND)]
  const to = bars[Math.min(bars.length - 1, at + BARS_AROUND)]
  return from && to ? { from: from.date, to: to.date } : null
}

const BARS_AROUND = 60

const NONE: Fill[] = []
const NO_EVENTS: ShareEvent[] = []
const NO_DAYS: string[] = []
