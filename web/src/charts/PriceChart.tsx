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
  /** The days that are to be in sight; all of them where none are named. */
  span?: { from: string; to: string } | null
  /** A day that stands out. */
  marked?: string | undefined
  onPick?: (date: string) => void
}

export function PriceChart({ label, bars, fills = NONE, span = null, marked, onPick }: Props) {
  const t = useText()
  const language = useLanguage()
  const settings = useSettings()
  const box = useRef<HTMLDivElement>(null)
  const heard = useRef(onPick)
  // What was in sight of these bars: choosing a day that is in sight moves nothing.
  const seen = useRef<{ bars: Bar[]; from: string; to: string } | null>(null)
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
    const before = seen.current
    const stays = before !== null && before.bars === bars && (marked === undefined || (before.from <= marked && marked <= before.to))
    const near = span ?? (stays ? before : marked === undefined ? null : around(known, marked))
    const inSight = near ? known.filter((bar) => bar.date >= near.from && bar.date <= near.to).length : known.length
    const main =
      inSight > 1500
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
    if (marked !== undefined && known.some((bar) => bar.date === marked)) {
      drawnMarks.push({ time: marked as Time, position: 'aboveBar', shape: 'circle', color: resolved('--accent'), text: marked })
      drawnMarks.sort((a, b) => String(a.time).localeCompare(String(b.time)))
    }
    createSeriesMarkers(main, drawnMarks)
    if (near && known.some((bar) => bar.date >= near.from) && known.some((bar) => bar.date <= near.to)) {
      chart.timeScale().setVisibleRange({ from: near.from as Time, to: near.to as Time })
    } else chart.timeScale().fitContent()
    chart.subscribeClick((event) => {
      if (typeof event.time === 'string') heard.current?.(event.time)
    })
    return () => {
      const range = chart.timeScale().getVisibleRange()
      seen.current = range ? { bars, from: String(range.from), to: String(range.to) } : null
      chart.remove()
    }
  }, [bars, fills, language, settings, span, marked])

  return (
    <figure className="chart">
      <div className="chart-box price" ref={box} role="img" aria-label={t('chart.price', { symbol: label })} />
      <Credit />
    </figure>
  )
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
