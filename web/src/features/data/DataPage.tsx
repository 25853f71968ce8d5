// The datasets at hand, and what one of them holds.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { PriceChart } from '@/charts/PriceChart'
import { bars as barsQuery, datasets } from '@/server/queries'
import type { Dataset } from '@/server/types'
import { ABSENT, useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { Figure, Pairs, Segments, Tag } from '@/shared/ui/parts'
import { Command, Empty, Failed, Loading, Note } from '@/shared/ui/states'

export function DataPage() {
  const t = useText()
  const navigate = useNavigate({ from: '/app/data' })
  const search = useSearch({ from: '/app/data' })
  const found = useQuery(datasets())
  const all = found.data ?? []
  const chosen = all.find((one) => one.name === search.dataset || one.hash === search.dataset) ?? all[0]
  return (
    <div className="page">
      <div className="page-head">
        <div className="grow">
          <h1>{t('data.title')}</h1>
          <p className="second">{t('data.what')}</p>
        </div>
      </div>
      {found.isPending && <Loading />}
      {found.error && <Failed error={found.error} retry={() => void found.refetch()} />}
      {found.data && all.length === 0 && <Empty title={t('data.empty')} command="papertape data import FILE… --name NAME" />}
      {chosen && (
        <div className="split">
          <nav className="panel list" aria-label={t('data.title')}>
            {all.map((one) => (
              <button key={one.hash} type="button" className="list-item" aria-current={one === chosen ? 'true' : undefined} onClick={() => void navigate({ search: { dataset: one.hash } })}>
                <b className="clip">{one.name}</b>
                <small className="quiet tnum">
                  {one.first_day ?? ABSENT} – {one.last_day ?? ABSENT}
                </small>
                {one.replaced && <Tag>{t('data.replaced')}</Tag>}
              </button>
            ))}
            <div className="panel-body stack">
              <span className="second">{t('data.more')}</span>
              <Command text="papertape data import FILE… --name NAME" />
            </div>
          </nav>
          <DatasetView key={chosen.hash} dataset={chosen} symbol={search.symbol} onSymbol={(symbol) => void navigate({ search: (now) => ({ ...now, symbol }), replace: true })} />
        </div>
      )}
    </div>
  )
}

interface DatasetProps {
  dataset: Dataset
  symbol: string | undefined
  onSymbol: (symbol: string) => void
}

function DatasetView({ dataset, symbol, onSymbol }: DatasetProps) {
  const t = useText()
  const format = useFormat()
  const chosen = symbol !== undefined && dataset.symbols.includes(symbol) ? symbol : (dataset.symbols[0] ?? '')
  const bars = useQuery(barsQuery(dataset.hash, chosen))
  const kinds: [string, number][] = [
    [t('data.bars'), dataset.bars],
    [t('data.within'), dataset.bars_within_days],
    [t('data.actions'), dataset.actions],
    [t('data.news'), dataset.news],
    [t('data.fundamentals'), dataset.fundamentals],
    [t('data.macros'), dataset.macros],
  ]
  return (
    <div className="stack sections grow">
      <section className="panel" aria-label={dataset.name}>
        <div className="panel-head">
          <h2>{dataset.name}</h2>
          <code className="quiet clip" title={dataset.hash}>
            {dataset.hash.slice(0, 16)}
          </code>
        </div>
        <div className="panel-body stack sections">
          <dl className="figures">
            <Figure name={t('data.days')} value={format.count(dataset.days)} />
            <Figure name={t('data.symbols')} value={format.count(dataset.symbols.length)} />
            {kinds.map(([name, count]) => (
              <Figure key={name} name={name} value={count === 0 ? t('data.none') : format.count(count)} tone={count === 0 ? 'quiet' : ''} />
            ))}
          </dl>
          <Pairs
            rows={[
              [t('data.span'), `${dataset.first_day ?? ABSENT} – ${dataset.last_day ?? ABSENT}`],
              [t('data.zone'), dataset.zone],
              [t('data.market'), dataset.market ?? t('data.market.none')],
              dataset.intervals.length > 0 ? [t('data.intervals'), dataset.intervals.join(', ')] : null,
              [t('data.bytes'), dataset.bytes === 0 ? t('data.bundled') : format.bytes(dataset.bytes)],
            ]}
          />
          {dataset.news + dataset.fundamentals + dataset.macros === 0 && <Note title={t('data.prices.only')}>{t('data.prices.only.why')}</Note>}
        </div>
      </section>
      <section className="panel" aria-label={t('run.prices')}>
        <div className="panel-head">
          <h2>{t('run.prices')}</h2>
          {dataset.symbols.length <= 12 ? (
            <Segments label={t('word.symbol')} value={chosen} onChange={onSymbol} choices={dataset.symbols.map((value) => ({ value, label: value }))} />
          ) : (
            <select className="select short" aria-label={t('word.symbol')} value={chosen} onChange={(event) => onSymbol(event.target.value)}>
              {dataset.symbols.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          )}
          <span className="quiet">{t('data.as.traded')}</span>
        </div>
        {bars.isPending && <Loading rows={8} />}
        {bars.error && <Failed error={bars.error} retry={() => void bars.refetch()} />}
        {bars.data === null && (
          <div className="panel-body">
            <Note kind="warn">{t('run.no.bars')}</Note>
          </div>
        )}
        {bars.data && <PriceChart label={chosen} bars={bars.data} />}
      </section>
      <Note title={t('data.shown')}>{t('data.shown.where')}</Note>
    </div>
  )
}
