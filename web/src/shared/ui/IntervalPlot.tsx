import type { Interval } from '@/server/types'
import css from './intervalPlot.module.css'

const WIDTH = 160
const HEIGHT = 18
const MARGIN = 4

interface Props {
  value: number
  /** Absent if there are too few days for one. */
  interval: Interval | null
  /** The value at the right edge; the left edge is its negative. */
  scale: number
}

/** A point with its interval on a common scale around zero. The numbers are next to it. */
export function IntervalPlot({ value, interval, scale }: Props) {
  const x = (at: number) => WIDTH / 2 + (at / scale) * (WIDTH / 2 - MARGIN)
  const middle = HEIGHT / 2
  return (
    <svg className={css.plot} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <path className={css.plotZero} d={`M${WIDTH / 2} 0V${HEIGHT}`} />
      {interval && <path className={css.plotLine} d={`M${x(interval.low)} ${middle}H${x(interval.high)}M${x(interval.low)} ${middle - 4}v8M${x(interval.high)} ${middle - 4}v8`} />}
      <circle className={css.plotPoint} cx={x(value)} cy={middle} r="3.5" />
    </svg>
  )
}
