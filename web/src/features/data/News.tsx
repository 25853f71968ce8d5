// News of a dataset, with the sessions that saw each item. The text is untrusted.
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { news as newsQuery } from '@/server/queries'
import type { Dataset, NewsItem } from '@/server/types'
import type { TableData } from '@/shared/csv'
import { fileName } from '@/shared/fileName'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { ExportMenu } from '@/shared/ui/exportMenu'
import { More, Tag } from '@/shared/ui/parts'
import { restOf } from '@/shared/ui/rest'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { SeenBy } from '../seenBy/SeenBy'
import { SymbolPick } from './SymbolPick'
import css from './data.module.css'

export function News({ dataset }: { dataset: Dataset }) {
  const t = useText()
  const navigate = useNavigate({ from: '/app/data' })
  const search = useSearch({ from: '/app/data' })
  const symbol = search.symbol !== undefined && dataset.symbols.includes(search.symbol) ? search.symbol : ''
  const query = useInfiniteQuery(newsQuery(dataset.hash, { symbol: symbol || undefined }))
  const rows = query.data?.pages.flatMap((page) => page.news) ?? []
  const go = (part: Record<string, string | undefined>) => void navigate({ search: (now) => ({ ...now, dataset: dataset.hash, ...part }), replace: true, resetScroll: false })
  if (dataset.news === 0) return <NoData label={t('data.news')} />
  return (
    <>
      <div className={`${css.panelTools} row wrap`}>
        <SymbolPick dataset={dataset} value={symbol} all={t('data.all')} onChange={(value) => go({ symbol: value || undefined, item: undefined })} />
        <span className="quiet grow">{t('data.news.what')}</span>
        {rows.length > 0 && <ExportMenu what={t('data.news')} name={fileName('news', dataset.name)} csv={async () => fileOf(query.hasNextPage ? await restOf(query, (page) => page.news).loadAll() : rows)} />}
      </div>
      {query.isPending && <Loading />}
      {query.error && rows.length === 0 && <Failed error={query.error} retry={() => void query.refetch()} />}
      {query.data && rows.length === 0 && <Empty title={t('data.news.none', { symbol })} />}
      <ul className={css.factsList}>
        {rows.map((item) => (
          <Item key={item.id} item={item} dataset={dataset} open={search.item === item.id} onOpen={(open) => go({ item: open ? item.id : undefined })} />
        ))}
      </ul>
      <More has={query.hasNextPage} busy={query.isFetchingNextPage} onMore={() => void query.fetchNextPage()} />
    </>
  )
}

function fileOf(rows: NewsItem[]): TableData {
  return {
    columns: ['id', 'published_at', 'symbols', 'headline', 'body', 'source', 'url'],
    rows: rows.map((row) => [row.id, row.published_at, row.symbols.join(' '), row.headline, row.body, row.source, row.url]),
  }
}

function Item({ item, dataset, open, onOpen }: { item: NewsItem; dataset: Dataset; open: boolean; onOpen: (open: boolean) => void }) {
  const format = useFormat()
  return (
    <li className={open ? 'marked' : ''}>
      <button type="button" className={css.fact} aria-expanded={open} onClick={() => onOpen(!open)}>
        <span className={`tnum second nowrap ${css.factWhen}`}>{format.instantIn(item.published_at, dataset.zone)}</span>
        <span className="grow">{item.headline}</span>
        {item.symbols.slice(0, 4).map((symbol) => (
          <Tag key={symbol}>{symbol}</Tag>
        ))}
        <span className="quiet nowrap">{item.source}</span>
      </button>
      {open && (
        <div className={css.factOpen}>
          {item.body && <p className={css.factBody}>{item.body}</p>}
          <p className="quiet mono clip" title={item.url ?? item.id}>
            {item.url ?? item.id}
          </p>
          <SeenBy filter={{ kind: 'news', dataset: dataset.hash, news_id: item.id }} zone={dataset.zone} />
        </div>
      )}
    </li>
  )
}

/** The dataset has no data of this kind. */
export function NoData({ label }: { label: string }) {
  const t = useText()
  return (
    <Empty title={t('data.kind.none', { what: label })} command="papertape data import FILE… --name NAME">
      <p className="second">{t('data.prices.only.why')}</p>
    </Empty>
  )
}
