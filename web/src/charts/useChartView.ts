// What a chart shows: its visible days, its presets and its scale.
import { type IChartApi, PriceScaleMode } from 'lightweight-charts'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { type Preset, presetAt, type RangeName } from './ranges'

interface VisibleDays {
  name: RangeName | null
  from: string
  to: string
}

/** Reports the visible range, and applies presets, scale and reset. `canLog`: whether all values are positive. */
export function useChartView(chart: RefObject<IChartApi | null>, presets: Preset[], canLog = true) {
  const [wantsLog, setLog] = useState(false)
  const [range, setRange] = useState<RangeName | null>('all')
  const log = wantsLog && canLog
  const presetsRef = useRef(presets)
  const visibleRef = useRef<VisibleDays | null>(null)
  useEffect(() => {
    presetsRef.current = presets
  })
  useEffect(() => {
    chart.current?.priceScale('right').applyOptions({ mode: modeOf(log) })
  }, [chart, log])
  return {
    log,
    setLog,
    range,
    /** Call for each new chart, and the returned function when it has its data. The box carries its visible days. */
    watch: (created: IChartApi, box: HTMLElement): (() => void) => {
      const before = visibleRef.current
      created.priceScale('right').applyOptions({ mode: modeOf(log) })
      created.timeScale().subscribeVisibleTimeRangeChange((visible) => {
        if (!visible) return
        const [from, to] = [String(visible.from), String(visible.to)]
        const name = presetAt(presetsRef.current, from, to)
        box.dataset.from = from
        box.dataset.to = to
        visibleRef.current = { name, from, to }
        setRange(name)
      })
      // A chart that replaces another one shows the same days.
      return () => {
        // Its data may have moved it. The range that is set here is reported with the next frame.
        visibleRef.current = before
        const last = presetsRef.current.at(-1)
        if (before && before.name !== 'all' && last && before.from < last.to) created.timeScale().setVisibleRange(before)
        else created.timeScale().fitContent()
      }
    },
    onRange: (preset: Preset) => {
      if (preset.name === 'all') chart.current?.timeScale().fitContent()
      else chart.current?.timeScale().setVisibleRange({ from: preset.from, to: preset.to })
    },
    onReset: () => {
      setLog(false)
      chart.current?.timeScale().fitContent()
      chart.current?.priceScale('right').applyOptions({ autoScale: true })
    },
  }
}

function modeOf(log: boolean): PriceScaleMode {
  return log ? PriceScaleMode.Logarithmic : PriceScaleMode.Normal
}
