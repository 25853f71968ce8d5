// Two to six agents, experiments or baselines side by side. The address holds the whole selection.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { comparison } from '@/server/judging'
import type { Comparison } from '@/server/types'
import { useText } from '@/shared/i18n'
import { useTitle } from '@/shared/title'
import { CopyButton } from '@/shared/ui/copy'
import { Empty, Failed, Loading, Note } from '@/shared/ui/states'
import { BranchView } from './BranchView'
import { ChartPanel } from './ChartPanel'
import css from './compare.module.css'
import { DayView } from './DayView'
import { MetricsView } from './MetricsView'
import { PairDetail } from './PairDetail'
import { Picker } from './Picker'
import { RandomView } from './RandomView'
import { type CompareSearch, listOf, MIN_ITEMS, selectedPair } from './select'
import { SetupView } from './SetupView'
import { Verdicts } from './Verdicts'

export function ComparePage() {
  const t = useText()
  const navigate = useNavigate({ from: '/app/compare' })
  const search = useSearch({ from: '/app/compare' })
  useTitle(t('nav.compare'))
  const items = listOf(search.select)
  const change = (part: Partial<CompareSearch>) => void navigate({ search: (now) => ({ ...now, ...part }), replace: true, resetScroll: false })
  return (
    <div className="page">
      <div className="page-head">
        <div className="grow">
          <h1>{t('nav.compare')}</h1>
          <p className="second">{t('compare.what')}</p>
        </div>
        {items.length >= MIN_ITEMS && <CopyButton text={() => location.href} label={t('compare.link')} />}
      </div>
      <Picker items={items} search={search} onChange={change} />
      {items.length < MIN_ITEMS ? (
        <div className="panel">
          <Empty title={t('compare.empty')}>
            <p className="second">{t('compare.empty.why')}</p>
            <button type="button" className="button primary" onClick={() => change({ select: 'latest,baseline:buy_and_hold' })}>
              {t('compare.latest')}
            </button>
          </Empty>
        </div>
      ) : (
        <Loaded search={search} select={items.join(',')} onChange={change} />
      )}
    </div>
  )
}

interface LoadedProps {
  search: CompareSearch
  select: string
  onChange: (part: Partial<CompareSearch>) => void
}

function Loaded({ search: { against, vary, points, pair, day }, select, onChange }: LoadedProps) {
  const t = useText()
  const query = useQuery(comparison({ select, against, vary, points }))
  if (query.isPending) {
    return (
      <div className="stack">
        <p className="second">{select.includes('baseline:random') ? t('compare.slow') : ''}</p>
        <Loading rows={10} />
      </div>
    )
  }
  if (!query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  return <Results found={query.data} pairIndex={pair} day={day} onChange={onChange} />
}

interface ResultsProps {
  found: Comparison
  pairIndex: number | undefined
  day: string | undefined
  onChange: LoadedProps['onChange']
}

function Results({ found, pairIndex, day, onChange }: ResultsProps) {
  const t = useText()
  const selected = useMemo(() => selectedPair(found.pairs, pairIndex), [found.pairs, pairIndex])
  return (
    <>
      <section className="panel" aria-label={t('compare.verdicts')}>
        <Verdicts found={found} selected={selected} onSelect={(index) => onChange({ pair: index === 0 ? undefined : index })} />
        {selected && <PairDetail pair={selected} items={found.items} target={found.target_points} />}
      </section>
      <ChartPanel found={found} pair={selected} onPick={(date) => onChange({ day: date })} />
      <MetricsView items={found.items} />
      {found.random.length > 0 && <RandomView tests={found.random} items={found.items} />}
      {found.branch && <BranchView branch={found.branch} />}
      <SetupView items={found.items} pair={selected} />
      <DayView items={found.items} day={day} onDay={(date) => onChange({ day: date })} />
      {found.notes.length > 0 && (
        <Note title={t('compare.notes')}>
          <ul className={css.notes} lang="en">
            {found.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </Note>
      )}
      <p className="quiet">{t('compare.method', { version: found.method_version })}</p>
    </>
  )
}
