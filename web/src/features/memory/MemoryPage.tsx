// What agents remember: lessons of closed trades, theses of open positions, rounds, and compacted archives.
import { shortId } from '@/shared/ids'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { archives, jobs, openPositions, rounds, trades, type TradesFilter } from '@/server/queries'
import type { Trades } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { isTyping } from '@/shared/keys'
import { datedRunTitle } from '@/shared/runTitle'
import { ExportMenu, type ExportProps } from '@/shared/ui/exportMenu'
import { More, Tabs } from '@/shared/ui/parts'
import { restOf } from '@/shared/ui/rest'
import { Empty, Example, Failed, Loading, Note } from '@/shared/ui/states'
import { ArchiveCard, OpenCard, ReflectionCard, RoundCard } from './cards'
import { archivesFile, openPositionsFile, reflectionsFile, roundsFile } from './files'
import css from './memory.module.css'

type Tab = 'trades' | 'open' | 'rounds' | 'archives'
const TABS: Tab[] = ['trades', 'open', 'rounds', 'archives']
const TAGS = ['entry_timing', 'sizing', 'stop_too_tight', 'stop_too_wide', 'thesis_wrong', 'ignored_signal', 'held_too_long', 'exited_early', 'rule_refused', 'degraded_research', 'luck']

export function MemoryPage() {
  const t = useText()
  const navigate = useNavigate({ from: '/app/memory' })
  const search = useSearch({ from: '/app/memory' })
  const tab = TABS.find((one) => one === search.tab) ?? 'trades'
  const filter = { model: search.model, job_id: search.job }
  return (
    <div className="page">
      <div className="page-head">
        <div className="grow">
          <h1>{t('memory.title')}</h1>
          <p className="second">{t('memory.what')}</p>
        </div>
        <RunFilter job={search.job} model={search.model} onChange={(part) => void navigate({ search: (now) => ({ ...now, ...part, id: undefined }) })} />
      </div>
      <Tabs<Tab>
        label={t('memory.title')}
        value={tab}
        onChange={(next) => void navigate({ search: (now) => ({ ...now, tab: next === 'trades' ? undefined : next }), replace: true })}
        choices={TABS.map((value) => ({ value, label: t(`memory.tab.${value}`) }))}
      >
        {tab === 'trades' && <Reflections />}
        {tab === 'open' && <Open filter={filter} id={search.id} />}
        {tab === 'rounds' && <Rounds filter={filter} id={search.id} />}
        {tab === 'archives' && <Archives filter={filter} />}
      </Tabs>
    </div>
  )
}

/** Filters by run and agent. */
function RunFilter({ job, model, onChange }: { job: string | undefined; model: string | undefined; onChange: (part: { job?: string | undefined; model?: string | undefined }) => void }) {
  const t = useText()
  const format = useFormat()
  const query = useInfiniteQuery(jobs({ kind: 'simulate' }))
  const runs = query.data?.pages.flatMap((page) => page.jobs) ?? []
  const selected = runs.find((run) => run.job_id === job)
  const agents = [...new Set((selected ? [selected] : runs).flatMap((run) => run.simulation?.agents.map((agent) => agent.name) ?? []))]
  if (model !== undefined && !agents.includes(model)) agents.push(model)
  return (
    <div className="row wrap">
      <select className="select short" aria-label={t('given.to.run')} value={job ?? ''} onChange={(event) => onChange({ job: event.target.value || undefined })}>
        <option value="">{t('memory.run.any')}</option>
        {job !== undefined && !selected && <option value={job}>{shortId(job)}</option>}
        {runs.map((run) => (
          <option key={run.job_id} value={run.job_id}>
            {`${datedRunTitle(run, format, t)} · ${shortId(run.job_id)}`}
          </option>
        ))}
      </select>
      <select className="select short" aria-label={t('runs.agent')} value={model ?? ''} onChange={(event) => onChange({ model: event.target.value || undefined })}>
        <option value="">{t('memory.agent.any')}</option>
        {agents.map((agent) => (
          <option key={agent}>{agent}</option>
        ))}
      </select>
    </div>
  )
}

/** Loads pages until the item with this ID is loaded. */
function useLoadUntil(id: string | undefined, isLoaded: boolean, query: { hasNextPage: boolean; isFetching: boolean; fetchNextPage: () => unknown }): void {
  const { hasNextPage, isFetching, fetchNextPage } = query
  useEffect(() => {
    if (id !== undefined && !isLoaded && hasNextPage && !isFetching) fetchNextPage()
  }, [id, isLoaded, hasNextPage, isFetching, fetchNextPage])
}

/** The markets of runs, by job ID. */
function useMarkets(): Map<string, string> {
  const query = useInfiniteQuery(jobs({ kind: 'simulate' }))
  const runs = query.data?.pages.flatMap((page) => page.jobs) ?? []
  return new Map(runs.flatMap((run) => (run.simulation ? [[run.job_id, run.simulation.market] as const] : [])))
}

function Reflections() {
  const markets = useMarkets()
  const t = useText()
  const word = useWord()
  const navigate = useNavigate({ from: '/app/memory' })
  const search = useSearch({ from: '/app/memory' })
  const filter: TradesFilter = {
    model: search.model,
    job_id: search.job,
    query: search.query,
    symbol: search.symbol,
    side: search.side === 'long' || search.side === 'short' ? search.side : undefined,
    tag: search.tag,
  }
  const query = useInfiniteQuery(trades(filter))
  const pages = query.data?.pages ?? []
  const rows = pages.flatMap((page) => page.trades)
  useLoadUntil(search.job === undefined ? undefined : search.id, rows.some((row) => String(row.trade_id) === search.id), query)
  const filtered = Object.values(filter).some((value) => value !== undefined)
  const set = (part: Record<string, string | undefined>) => void navigate({ search: (now) => ({ ...now, ...part }), replace: true })
  return (
    <div className="stack sections">
      <Search key={`${search.model ?? ''} ${search.job ?? ''}`} query={search.query ?? ''} symbol={search.symbol ?? ''} onSearch={(query, symbol) => set({ query: query || undefined, symbol: symbol || undefined })}>
        <select className="select short" aria-label={t('memory.side')} value={search.side ?? ''} onChange={(event) => set({ side: event.target.value || undefined })}>
          <option value="">{t('memory.side.any')}</option>
          <option value="long">{t('side.long')}</option>
          <option value="short">{t('side.short')}</option>
        </select>
        <select className="select short" aria-label={t('memory.tag')} value={search.tag ?? ''} onChange={(event) => set({ tag: event.target.value || undefined })}>
          <option value="">{t('memory.tag.any')}</option>
          {TAGS.map((tag) => (
            <option key={tag} value={tag}>
              {word('tag', tag)}
            </option>
          ))}
        </select>
      </Search>
      <SearchNote answer={pages[0]} searched={search.query !== undefined} />
      {query.isPending && <Loading />}
      {query.error && <Failed error={query.error} retry={() => void query.refetch()} />}
      {query.data && rows.length === 0 && (
        filtered ? (
          <Empty title={t('memory.no.match')} />
        ) : (
          <Empty title={t('memory.trades.none')} command="papertape run --demo">
            <p className="second">{t('memory.trades.none.why')}</p>
            <Example>
              <b>{t('example.lesson.title')}</b>
              <p>{t('example.lesson')}</p>
            </Example>
          </Empty>
        )
      )}
      {rows.length > 0 && <Files what={t('memory.tab.trades')} name="lessons" csv={async () => reflectionsFile(await restOf(query, (page) => page.trades).loadAll())} />}
      <div className={css.cards}>
        {rows.map((row) => (
          <ReflectionCard key={`${row.job_id} ${row.model} ${row.trade_id}`} row={row} market={markets.get(row.job_id)} marked={search.id === String(row.trade_id) && search.job !== undefined} />
        ))}
      </div>
      <More has={query.hasNextPage} busy={query.isFetchingNextPage} onMore={() => void query.fetchNextPage()} />
    </div>
  )
}

interface SearchProps {
  query: string
  symbol: string
  onSearch: (query: string, symbol: string) => void
  children: ReactNode
}

function Search({ query, symbol, onSearch, children }: SearchProps) {
  const t = useText()
  const [text, setText] = useState(query)
  const [ticker, setTicker] = useState(symbol)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== '/' || isTyping(event)) return
      event.preventDefault()
      field.current?.focus()
    }
    window.addEventListener('keydown', pressed)
    return () => window.removeEventListener('keydown', pressed)
  }, [])
  const send = (event: FormEvent) => {
    event.preventDefault()
    onSearch(text.trim(), ticker.trim().toUpperCase())
  }
  return (
    <form className={`row wrap ${css.search}`} role="search" onSubmit={send}>
      <input ref={field} className="input" type="search" value={text} placeholder={t('memory.search')} aria-label={t('memory.search')} onChange={(event) => setText(event.target.value)} />
      <input className="input short" value={ticker} placeholder={t('word.symbol')} aria-label={t('word.symbol')} onChange={(event) => setTicker(event.target.value)} />
      {children}
      <button type="submit" className="button">
        {t('action.search')}
      </button>
    </form>
  )
}

/** How the search was done, and what it could not cover. */
function SearchNote({ answer, searched }: { answer: Trades | undefined; searched: boolean }) {
  const t = useText()
  if (!answer || !searched) return null
  return (
    <Note>
      {answer.search === 'keyword' ? t('memory.by.words') : t('memory.by.meaning', { model: answer.embedding_model ?? '' })}
      {answer.search_note ? ` ${answer.search_note}` : ''}
      {answer.without_vector ? ` ${t('memory.without.vector', { count: answer.without_vector })}` : ''}
    </Note>
  )
}

interface ListProps {
  filter: { model?: string | undefined; job_id?: string | undefined }
  /** The item to scroll to. */
  id?: string | undefined
}

function Open({ filter, id }: ListProps) {
  const t = useText()
  const query = useInfiniteQuery(openPositions(filter))
  const rows = query.data?.pages.flatMap((page) => page.open_positions) ?? []
  useLoadUntil(id, rows.some((row) => row.position_id === id), query)
  return (
    <List query={query} empty={rows.length === 0} title={t('memory.open.none')} files={<Files what={t('memory.tab.open')} name="open-positions" csv={async () => openPositionsFile(await restOf(query, (page) => page.open_positions).loadAll())} />}>
      {rows.map((row) => (
        <OpenCard key={`${row.job_id} ${row.model} ${row.position_id}`} row={row} marked={id === row.position_id} />
      ))}
    </List>
  )
}

function Rounds({ filter, id }: ListProps) {
  const t = useText()
  const query = useInfiniteQuery(rounds(filter))
  const rows = query.data?.pages.flatMap((page) => page.rounds) ?? []
  useLoadUntil(id, rows.some((row) => String(row.round_id) === id), query)
  return (
    <List query={query} empty={rows.length === 0} title={t('memory.rounds.none')} files={<Files what={t('memory.tab.rounds')} name="rounds" csv={async () => roundsFile(await restOf(query, (page) => page.rounds).loadAll())} />}>
      {rows.map((row) => (
        <RoundCard key={`${row.job_id} ${row.model} ${row.round_id}`} row={row} marked={id === String(row.round_id) && filter.job_id !== undefined} />
      ))}
    </List>
  )
}

function Archives({ filter }: ListProps) {
  const t = useText()
  const query = useInfiniteQuery(archives(filter))
  const rows = query.data?.pages.flatMap((page) => page.archives) ?? []
  return (
    <List
      query={query}
      empty={rows.length === 0}
      title={t('memory.archives.none')}
      command="papertape memory compact --period quarter"
      files={<Files what={t('memory.tab.archives')} name="archives" csv={async () => archivesFile(await restOf(query, (page) => page.archives).loadAll())} />}
    >
      {rows.map((row) => (
        <ArchiveCard key={`${row.job_id} ${row.model} ${row.period} ${row.symbol}`} row={row} />
      ))}
    </List>
  )
}

/** The downloads of a list of cards. */
function Files(props: ExportProps) {
  return (
    <div className={`row ${css.listFiles}`}>
      <ExportMenu {...props} />
    </div>
  )
}

interface ListViewProps {
  query: { isPending: boolean; error: Error | null; refetch: () => unknown; hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
  empty: boolean
  title: string
  command?: string
  files: ReactNode
  children: ReactNode
}

function List({ query, empty, title, command = 'papertape run --demo', files, children }: ListViewProps) {
  if (query.isPending) return <Loading />
  if (query.error && empty) return <Failed error={query.error} retry={() => void query.refetch()} />
  if (empty) return <Empty title={title} command={command} />
  return (
    <>
      {files}
      <div className={css.cards}>{children}</div>
      <More has={query.hasNextPage} busy={query.isFetchingNextPage} onMore={() => void query.fetchNextPage()} />
    </>
  )
}
