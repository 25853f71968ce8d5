import { useRef } from 'react'
import type { WindowTrials } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import type { LegendLine } from '@/shared/legend'
import { ExportMenu } from '@/shared/ui/exportMenu'
import css from './experiments.module.css'

const WIDTH = 220
const HEIGHT = 20
const MARGIN = 6

interface Props {
  /** The agent and the window. */
  title: string
  /** The name of its files. */
  name: string
  trials: WindowTrials['trials']
  mean: number | null
  hold: number | null
  range: { low: number; high: number }
}

/** The returns of the trials on a common scale: a dot each, hollow if incomplete, with their mean and buy-and-hold. */
export function Dots({ title, name, trials, mean, hold, range: { low, high } }: Props) {
  const t = useText()
  const format = useFormat()
  const drawn = useRef<SVGSVGElement>(null)
  const width = high - low || 1
  const x = (value: number) => MARGIN + ((value - low) / width) * (WIDTH - 2 * MARGIN)
  const hasMean = mean !== null && trials.length > 1
  const texts = trials.map((trial) => format.change(trial.total_return))
  const legend: LegendLine[] = [
    ...(hasMean ? [{ label: t('experiment.mean'), token: '--text', dash: 'solid' as const }] : []),
    ...(hold === null ? [] : [{ label: t('experiment.hold'), token: '--baseline-1', dash: 'dashed' as const }]),
  ]
  const csv = () => ({
    columns: ['job_id', 'trial', 'total_return', 'is_complete', 'mean_of_complete', 'buy_and_hold'],
    rows: trials.map((trial) => [trial.job_id, trial.trial, trial.total_return, trial.is_complete, mean, hold]),
  })
  return (
    <span className="row">
      <svg ref={drawn} className={css.dots} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${t('experiment.dots')}: ${texts.join(', ')}`}>
        <path className={css.axis} d={`M0 ${HEIGHT / 2}H${WIDTH}`} />
        <path className={css.zero} d={`M${x(0)} 2V${HEIGHT - 2}`} />
        {hold !== null && <path className={css.hold} d={`M${x(hold)} 2V${HEIGHT - 2}`} />}
        {trials.map((trial) =>
          trial.total_return == null ? null : <circle key={trial.job_id} className={trial.is_complete ? css.dot : css.hollow} cx={x(trial.total_return)} cy={HEIGHT / 2} r="3.5" />,
        )}
        {hasMean && <path className={css.mean} d={`M${x(mean)} 1V${HEIGHT - 1}`} />}
      </svg>
      <ExportMenu what={`${t('experiment.dots')}: ${title}`} name={name} csv={csv} image={() => drawn.current} legend={legend} />
    </span>
  )
}
