// The controls of a chart: range presets, log scale, reset, downloads.
import { useText } from '@/shared/i18n'
import { ExportMenu, type ExportProps } from '@/shared/ui/exportMenu'
import type { Preset, RangeName } from './ranges'

interface Props {
  presets: Preset[]
  range: RangeName | null
  onRange: (preset: Preset) => void
  /** Whether all values are positive, so that they have logarithms. */
  canLog?: boolean
  log: boolean
  onLog: (log: boolean) => void
  onReset: () => void
  files: ExportProps
}

export function ChartTools({ presets, range, onRange, canLog = true, log, onLog, onReset, files }: Props) {
  const t = useText()
  return (
    <div className="row wrap chart-tools">
      {presets.length > 1 && (
        <div className="segments" role="group" aria-label={t('chart.range')}>
          {presets.map((preset) => (
            <button key={preset.name} type="button" aria-pressed={range === preset.name} onClick={() => onRange(preset)}>
              {t(`chart.range.${preset.name}`)}
            </button>
          ))}
        </div>
      )}
      {canLog && (
        <button type="button" className="button small" aria-pressed={log} title={t('chart.log.what')} onClick={() => onLog(!log)}>
          {t('chart.log')}
        </button>
      )}
      <button type="button" className="button small" title={t('chart.reset.what')} onClick={onReset}>
        {t('chart.reset')}
      </button>
      <ExportMenu {...files} />
    </div>
  )
}
