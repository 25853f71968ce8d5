// What a chart shows: its visible days, its presets and its scale.
import { type IChartApi, PriceScaleMode, type Time } from 'lightweight-charts'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { type Preset, presetAt, type RangeName } from './ranges'

/** Reports the visible range, and applies presets, scale and reset. */
export function useChartView(chart: RefObject<IChartApi | null>, presets: Preset[]) {
  const [log, setLog] = useState(false)
  const [range, setRange] = useState<RangeName | null>('all')
  const presetsRef = useRef(presets)
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
    /** Call for each new chart. The box carries its visible days. */
    watch: (created: IChartApi, box: HTMLElement) => {
      created.priceScale('right').applyOptions({ mode: modeOf(log) })
      created.timeScale().subscribeVisibleTimeRangeChange((visible) => {
        if (!visible) return
        const [from, to] = [String(visible.from), String(visible.to)]
        box.dataset.from = from
        box.dataset.to = to
        setRange(presetAt(presetsRef.current, from, to))
      })
    },
    onRange: (preset: Preset) => {
      if (preset.name === 'all') chart.current?.timeScale().fitContent()
      else chart.current?.timeScale().setVisibleRange({ from: preset.from as Time, to: preset.to as Time })
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

