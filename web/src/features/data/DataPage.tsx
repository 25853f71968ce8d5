// The datasets at hand, what one of them holds, and who was shown it.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { datasets } from '@/server/queries'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { Tag } from '@/shared/ui/parts'
import { Command, Empty, Failed, Loading } from '@/shared/ui/states'
import { DatasetView } from './DatasetView'

export function DataPage() {
  const t = useText()
  const format = useFormat()
  const navigate = useNavigate({ from: '/app/data' })
  const search = useSearch({ from: '/app/data' })
  const found = useQuery(datasets())
  const all = found.data ?? []
  const named = search.dataset
  // A name stands for its newest content; a hash for what it was.
  const byName = all.find((one) => one.name === named && !one.replaced)
  const chosen = named === undefined ? all[0] : (all.find((one) => one.hash === named || one.hash.startsWith(`${named}`)) ?? byName)
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
      {all.length > 0 && (
        <div className="split data-split">
          <nav className="panel list" aria-label={t('data.title')}>
            {all.map((one) => (
              <button key={one.hash} type="button" className="list-item" aria-current={one === chosen ? 'true' : undefined} onClick={() => void navigate({ search: { dataset: one.hash } })}>
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
          {chosen ? (
            <DatasetView key={chosen.hash} dataset={chosen} />
          ) : (
            <Empty title={t('data.missing')}>
              <p className="second">{t('data.missing.why', { dataset: (named ?? '').slice(0, 16) })}</p>
            </Empty>
          )}
        </div>
      )}
    </div>
  )
}
