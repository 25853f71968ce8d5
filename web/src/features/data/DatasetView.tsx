// One dataset: its metadata and contents.
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Dataset } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { Stat, Pairs, Tabs } from '@/shared/ui/parts'
import { Fundamentals, Macros } from './Fundamentals'
import { News } from './News'
import { Prices } from './Prices'
import css from './data.module.css'

type Tab = 'prices' | 'news' | 'fundamentals' | 'macros' | 'about'

export function DatasetView({ dataset }: { dataset: Dataset }) {
  const t = useText()
  const format = useFormat()
  const navigate = useNavigate({ from: '/app/data' })
  const search = useSearch({ from: '/app/data' })
  const tabs: { value: Tab; label: string; count?: number }[] = [
    { value: 'prices', label: t('run.prices') },
    { value: 'news', label: t('data.news'), count: dataset.news },
    { value: 'fundamentals', label: t('data.fundamentals'), count: dataset.fundamentals },
    { value: 'macros', label: t('data.macros'), count: dataset.macros },
    { value: 'about', label: t('data.about') },
  ]
  const tab = tabs.find((one) => one.value === search.tab)?.value ?? 'prices'
  return (
    <section className="panel grow" aria-label={dataset.name}>
      <div className="panel-head">
        <h2>{dataset.name}</h2>
        <code className="quiet clip" title={dataset.hash}>
          {dataset.hash.slice(0, 16)}
        </code>
        <span className="grow" />
        <span className="second tnum nowrap">
          {t('data.brief', { symbols: format.count(dataset.symbols.length), days: format.count(dataset.days) })}
        </span>
      </div>
      <Tabs<Tab>
        label={t('data.kinds')}
        value={tab}
        onChange={(value) => void navigate({ search: (now) => ({ dataset: now.dataset ?? dataset.hash, symbol: now.symbol, tab: value === 'prices' ? undefined : value }), replace: true })}
        choices={tabs}
      >
        {tab === 'prices' && <Prices dataset={dataset} />}
        {tab === 'news' && <News dataset={dataset} />}
        {tab === 'fundamentals' && <Fundamentals dataset={dataset} />}
        {tab === 'macros' && <Macros dataset={dataset} />}
        {tab === 'about' && <About dataset={dataset} />}
      </Tabs>
    </section>
  )
}

function About({ dataset }: { dataset: Dataset }) {
  const t = useText()
  const format = useFormat()
  const kinds: [string, number][] = [
    [t('data.bars'), dataset.bars],
    [t('data.within'), dataset.intraday_bars],
    [t('data.actions'), dataset.actions],
    [t('data.news'), dataset.news],
    [t('data.fundamentals'), dataset.fundamentals],
    [t('data.macros'), dataset.macros],
  ]
  return (
    <div className="panel-body stack sections">
      <dl className="figures">
        <Stat name={t('data.days')} value={format.count(dataset.days)} />
        <Stat name={t('data.symbols')} value={format.count(dataset.symbols.length)} />
        {dataset.indexes.length > 0 && <Stat name={t('data.indexes')} value={format.count(dataset.indexes.length)} />}
        {kinds.map(([name, count]) => (
          <Stat key={name} name={name} value={count === 0 ? t('data.none') : format.count(count)} tone={count === 0 ? 'quiet' : ''} />
        ))}
      </dl>
      <Pairs
        rows={[
          [t('data.span'), format.span(dataset.first_day, dataset.last_day)],
          [t('data.zone'), dataset.zone],
          [t('data.market'), dataset.market ?? t('data.market.none')],
          dataset.intervals.length > 0 ? [t('data.intervals'), dataset.intervals.join(', ')] : null,
          dataset.universes.length > 0 ? [t('data.universes'), dataset.universes.map(({ name, symbols }) => t('data.index', { name, symbols: format.count(symbols) })).join(', ')] : null,
          [t('data.bytes'), dataset.bytes === 0 ? t('data.bundled') : format.bytes(dataset.bytes)],
          [t('data.hash'), <code key="hash" className={css.wrapAnywhere}>{dataset.hash}</code>],
        ]}
      />
    </div>
  )
}
