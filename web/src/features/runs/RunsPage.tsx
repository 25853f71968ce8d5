// All runs, each with its agents, progress and results: searched, filtered and sorted by the server.
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { access } from '@/server/queries'
import { runList } from '@/server/runList'
import type { Job } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { useTitle } from '@/shared/title'
import { ExportMenu } from '@/shared/ui/exportMenu'
import { Icon } from '@/shared/ui/icons'
import { Operate } from '@/shared/ui/operate'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { isFiltered, queryOf, type RunsSearch } from './address'
import { chooseColumn, type Column, COLUMNS, useColumns } from './columns'
import { readRuns, runsImage } from './exportRuns'
import { Filters } from './Filters'
import { NewRun } from './NewRun'
import { RunsTable } from './RunsTable'
import css from './runs.module.css'

const MIN_COMPARED = 2
const MAX_COMPARED = 6

export function RunsPage() {
  const t = useText()
  const navigate = useNavigate({ from: '/app/runs' })
  const search = useSearch({ from: '/app/runs' })
  const columns = useColumns()
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const query = useInfiniteQuery(runList(queryOf(search)))
  const jobs = useMemo(() => query.data?.pages.flatMap((page) => page.jobs) ?? [], [query.data])
  const caller = useQuery(access())
  useTitle(t('runs.title'))
  const { hasNextPage, isFetching, fetchNextPage } = query
  const more = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage()
  }, [hasNextPage, isFetching, fetchNextPage])
  const change = useCallback((part: Partial<RunsSearch>) => void navigate({ search: (now) => ({ ...now, ...part }), replace: true }), [navigate])
  const open = (isOpen: boolean) => void navigate({ search: (now) => ({ ...now, new: isOpen ? true : undefined }), replace: !isOpen })
  const select = useCallback(
    (id: string, isSelected: boolean) =>
      setSelected((now) => {
        const next = new Set(now)
        if (isSelected) next.add(id)
        else next.delete(id)
        return next
      }),
    [],
  )
  const isEmpty = query.data !== undefined && jobs.length === 0
  return (
    <div className="page">
      <div className="page-head">
        <div className="grow">
          <h1>{t('runs.title')}</h1>
          <p className="second">{t('runs.what')}</p>
        </div>
        <Operate>
          <button type="button" className="button primary" onClick={() => open(true)}>
            <Icon name="plus" />
            {t('runs.new')} <kbd>n</kbd>
          </button>
        </Operate>
      </div>
      {(!isEmpty || isFiltered(search)) && <Filters search={search} loaded={jobs} onChange={change} />}
      {query.isPending && <Loading rows={9} />}
      {query.error && !query.data && <Failed error={query.error} retry={() => void query.refetch()} />}
      {isEmpty && isFiltered(search) && <p className="second">{t('runs.none')}</p>}
      {isEmpty && !isFiltered(search) && (
        <div className="panel">
          <Empty title={t('runs.empty')} command="papertape run --demo">
            <p className="second">{t('runs.empty.why')}</p>
            <Operate>
              <button type="button" className="button primary" onClick={() => open(true)}>
                {t('runs.new')}
              </button>
            </Operate>
            <p className="second">{t('runs.empty.demo')}</p>
          </Empty>
        </div>
      )}
      {jobs.length > 0 && (
        <>
          <Tools search={search} jobs={jobs} columns={columns} selected={selected} hasMore={hasNextPage} />
          <RunsTable
            jobs={jobs}
            columns={columns}
            order={search.sort}
            onOrder={(sort) => change({ sort })}
            selected={selected}
            onSelect={select}
            canEdit={caller.data === null || caller.data?.scope === 'operate'}
            hasMore={hasNextPage}
            onMore={more}
          />
        </>
      )}
      <Operate>{search.new && <NewRun onClose={() => open(false)} />}</Operate>
    </div>
  )
}

interface ToolsProps {
  search: RunsSearch
  jobs: Job[]
  columns: Column[]
  selected: ReadonlySet<string>
  hasMore: boolean
}

/** Comparing, choosing columns, and downloads. */
function Tools({ search, jobs, columns, selected, hasMore }: ToolsProps) {
  const t = useText()
  const format = useFormat()
  const client = useQueryClient()
  const canCompare = selected.size >= MIN_COMPARED && selected.size <= MAX_COMPARED
  const items = [...selected].map((id) => `job:${id}`).join(',')
  return (
    <div className={css.tools}>
      <span className="second grow" role="status">
        {t(hasMore ? 'runs.loaded.more' : 'runs.loaded', { count: jobs.length })}
      </span>
      {selected.size > 0 &&
        (canCompare ? (
          <Link to="/app/compare" search={{ select: items }} className="button small primary">
            {t('runs.compare.count', { count: selected.size })}
          </Link>
        ) : (
          <button type="button" className="button small" disabled title={t('runs.compare.hint')}>
            {t('runs.compare')}
          </button>
        ))}
      <details className={css.columns}>
        <summary className="button small">{t('runs.columns')}</summary>
        <div className={css.menu} role="group" aria-label={t('runs.columns')}>
          {COLUMNS.map((column) => (
            <label key={column.key} className="check">
              <input
                type="checkbox"
                disabled={column.isFixed}
                checked={columns.some((one) => one.key === column.key)}
                onChange={(event) => chooseColumn(columns, column.key, event.target.checked)}
              />
              {t(column.text)}
            </label>
          ))}
        </div>
      </details>
      <ExportMenu what={t('runs.title')} name="runs" csv={() => readRuns(client, queryOf(search), t)} image={() => runsImage(client, jobs, t, format)} />
    </div>
  )
}
