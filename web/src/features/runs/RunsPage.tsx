// All runs, newest first, each with its agents, progress and results.
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { jobs } from '@/server/queries'
import type { Job } from '@/server/types'
import { useText } from '@/shared/i18n'
import { useTitle } from '@/shared/title'
import { Icon } from '@/shared/ui/icons'
import { Operate } from '@/shared/ui/operate'
import { More, Segments } from '@/shared/ui/parts'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { NewRun } from './NewRun'
import { RunGroup } from './RunGroup'

/** Enough runs to fill a screen. */
const MIN_ROWS = 20

type Filter = 'all' | 'running' | 'completed' | 'stopped'
const STOPPED = new Set(['partial', 'failed', 'cancelled'])

function matches(job: Job, filter: Filter): boolean {
  if (filter === 'all') return true
  if (filter === 'running') return job.status === 'running' || job.status === 'queued'
  return filter === 'completed' ? job.status === 'completed' : STOPPED.has(job.status)
}

export function RunsPage() {
  const t = useText()
  const navigate = useNavigate()
  const search = useSearch({ from: '/app/runs' })
  const [filter, setFilter] = useState<Filter>('all')
  const query = useInfiniteQuery(jobs({ kind: 'simulate' }))
  const all = useMemo(() => query.data?.pages.flatMap((page) => page.jobs) ?? [], [query.data])
  const visible = useMemo(() => all.filter((job) => matches(job, filter)), [all, filter])
  useTitle(t('runs.title'))
  // Matching runs may be on later pages: load until the screen is full.
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query
  const searching = filter !== 'all' && visible.length < MIN_ROWS && hasNextPage
  useEffect(() => {
    if (searching && !isFetchingNextPage) void fetchNextPage()
  }, [searching, isFetchingNextPage, fetchNextPage])
  const open = (isOpen: boolean) => void navigate({ to: '/app/runs', search: isOpen ? { new: true } : {}, replace: !isOpen })

  return (
    <div className="page">
      <div className="page-head">
        <div className="grow">
          <h1>{t('runs.title')}</h1>
          <p className="second">{t('runs.what')}</p>
        </div>
        <Segments<Filter>
          label={t('runs.filter')}
          value={filter}
          onChange={setFilter}
          choices={[
            { value: 'all', label: t('runs.all') },
            { value: 'running', label: t('runs.running') },
            { value: 'completed', label: t('runs.completed') },
            { value: 'stopped', label: t('runs.stopped') },
          ]}
        />
        <Operate>
          <button type="button" className="button primary" onClick={() => open(true)}>
            <Icon name="plus" />
            {t('runs.new')} <kbd>n</kbd>
          </button>
        </Operate>
      </div>
      {query.isPending && <Loading rows={9} />}
      {query.error && !query.data && <Failed error={query.error} retry={() => void query.refetch()} />}
      {query.data && all.length === 0 && (
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
      {all.length > 0 && <Table jobs={visible} searching={searching} />}
      {!searching && <More has={hasNextPage} busy={isFetchingNextPage} onMore={() => void fetchNextPage()} />}
      <Operate>{search.new && <NewRun onClose={() => open(false)} />}</Operate>
    </div>
  )
}

function Table({ jobs: visible, searching }: { jobs: Job[]; searching: boolean }) {
  const t = useText()
  const [margin, setMargin] = useState(0)
  const list = useCallback((element: HTMLDivElement | null) => setMargin(element?.offsetTop ?? 0), [])
  const rows = useWindowVirtualizer({
    count: visible.length,
    estimateSize: (index) => 52 + 27 * (visible[index]?.simulation?.agents.length ?? 1),
    overscan: 4,
    scrollMargin: margin,
    getItemKey: (index) => visible[index]?.job_id ?? index,
  })
  if (visible.length === 0) return searching ? <Loading rows={4} /> : <p className="second">{t('runs.none')}</p>
  return (
    <div className="runs scroll-x" role="table" aria-label={t('runs.title')}>
      <div role="rowgroup">
        <div className="runs-row runs-names" role="row">
          {(['runs.agent', 'runs.equity', 'runs.return', 'runs.edge', 'runs.drawdown', 'runs.sharpe', 'runs.research'] as const).map((name, index) => (
            <span key={name} role="columnheader" className={index > 1 && index < 6 ? 'num' : ''}>
              {t(name)}
            </span>
          ))}
        </div>
      </div>
      <div ref={list} role="presentation" className="runs-space" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map((row) => {
          const job = visible[row.index]
          if (!job) return null
          return (
            <div
              key={row.key}
              data-index={row.index}
              ref={rows.measureElement}
              role="presentation"
              className="runs-place"
              style={{ transform: `translateY(${row.start - margin}px)` }}
            >
              <RunGroup job={job} />
            </div>
          )
        })}
      </div>
    </div>
  )
}
