// Selects the symbol or index that a run is compared with.
import { useQuery } from '@tanstack/react-query'
import { dataset as datasetQuery } from '@/server/queries'
import type { Job } from '@/server/types'
import { useText } from '@/shared/i18n'

interface Props {
  job: Job
  /** Empty: the run's own benchmark. */
  value: string
  onChange: (symbol: string) => void
}

export function BenchmarkPick({ job, value, onChange }: Props) {
  const t = useText()
  const { data } = useQuery({ ...datasetQuery(job.simulation?.dataset.hash ?? ''), enabled: job.simulation != null })
  if (!data) return null
  const own = job.simulation?.benchmark ?? null
  return (
    <select className="select short" aria-label={t('benchmark.title')} title={t('benchmark.title')} value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">{own ?? t('benchmark.none')}</option>
      {[...data.indexes, ...data.symbols].filter((symbol) => symbol !== own).map((symbol) => (
        <option key={symbol}>{symbol}</option>
      ))}
    </select>
  )
}
