// The available datasets, their contents, and which sessions saw them.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { datasets } from '@/server/queries'
import type { Dataset } from '@/server/types'
import type { TableData } from '@/shared/csv'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { ExportMenu } from '@/shared/ui/exportMenu'
import { Tag } from '@/shared/ui/parts'
import { Command, Empty, Failed, Loading } from '@/shared/ui/states'
import { DatasetView } from './DatasetView'
import css from './data.module.css'

export function DataPage() {
  const t = useText()
  const format = useFormat()
  const navigate = useNavigate({ from: '/app/data' })
  const search = useSearch({ from: '/app/data' })
  const query = useQuery(datasets())
  const all = query.data ?? []
  const requested = search.dataset
  // A name refers to the newest content, a hash to a fixed one.
  const byName = all.find((one) => one.name === requested && !one.replaced)
  const selected = requested === undefined ? all[0] : (all.find((one) => one.hash === requested || one.hash.startsWith(`${requested}`)) ?? byName)
  return (
    <div className="page">
      <div className="page-head">
        <div className="grow">
          <h1>{t('data.title')}</h1>
          <p className="second">{t('data.what')}</p>
        </div>
        {all.length > 0 && <ExportMenu what={t('data.title')} name="datasets" csv={() => fileOf(all)} />}
      </div>
      {query.isPending && <Loading />}
      {query.error && <Failed error={query.error} retry={() => void query.refetch()} />}
      {query.data && all.length === 0 && <Empty title={t('data.empty')} command="papertape data import FILE… --name NAME" />}
      {all.length > 0 && (
        <div className={`split ${css.dataSplit}`}>
          <nav className="panel list" aria-label={t('data.title')}>
            {all.map((one) => (
              <button key={one.hash} type="button" className="list-item" aria-current={one === selected ? 'true' : undefined} onClick={() => void navigate({ search: { dataset: one.hash } })}>
                <b className="clip">{one.name}</b>
                <small className="quiet tnum">
                  {format.span(one.first_day, one.last_day)}
                </small>
                {one.replaced && <Tag>{t('data.replaced')}</Tag>}
              </button>
            ))}
            <div className="panel-body stack">
              <span className="second">{t('data.more')}</span>
              <Command text="papertape data import FILE… --name NAME" />
            </div>
          </nav>
          {selected ? (
            <DatasetView key={selected.hash} dataset={selected} />
          ) : (
            <Empty title={t('data.missing')}>
              <p className="second">{t('data.missing.why', { dataset: (requested ?? '').slice(0, 16) })}</p>
            </Empty>
          )}
        </div>
      )}
    </div>
  )
}

function fileOf(all: Dataset[]): TableData {
  return {
    columns: ['name', 'hash', 'market', 'zone', 'first_day', 'last_day', 'days', 'symbols', 'bars', 'intraday_bars', 'corporate_actions', 'news', 'fundamentals', 'macros', 'size_bytes', 'is_replaced'],
    rows: all.map((one) => [
      one.name, one.hash, one.market, one.zone, one.first_day, one.last_day, one.days, one.symbols.join(' '),
      one.bars, one.intraday_bars, one.actions, one.news, one.fundamentals, one.macros, one.bytes, one.replaced,
    ]),
  }
}
