// What the server finds for the palette: older runs, jobs of other kinds, sessions and messages.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { MAX_SEARCHED, messageSearch, type SearchHit } from '@/server/judging'
import { jobSearch, sessionSearch } from '@/server/search'
import type { Job } from '@/server/types'
import { type Format, useFormat } from '@/shared/format'
import { type Translate, useText } from '@/shared/i18n'
import { agentNames, dayOf, type Entry, excerpt, foundSessions, runEntries, sessionEntries, withoutDay } from './entries'

/** How long typing must pause before the server searches. */
const PAUSE_MS = 250
/** Shorter queries match too many messages. A Chinese word may have two characters. */
const MIN_LENGTH = 3
const CHINESE = /[\u3400-\u9fff]{2}/

/** What is shown instead of a message. */
const NO_MESSAGE = { reading: 'palette.reading', done: 'palette.no.context', cut: 'palette.further' } as const

interface Searched {
  entries: Entry[]
  isSearching: boolean
  /** Whether the query is long enough for messages. */
  searchesMessages: boolean
}

/** What the server finds, among and beyond the loaded runs. Entries of the previous query remain until there are others. */
export function useSearch(query: string, loaded: Job[]): Searched {
  const t = useText()
  const format = useFormat()
  const typed = query.trim()
  const words = usePaused(typed)
  const isPaused = words === typed
  const day = dayOf(words)
  const rest = withoutDay(words)
  const jobs = useQuery(jobSearch(rest))
  const found = rest === '' ? [] : (jobs.data?.found ?? [])
  const isFindingJobs = rest !== '' && jobs.isFetching
  const known = [...loaded, ...found]
  const agents = rest === '' ? [] : agentNames(known, rest)
  // The jobs that match name the agents to look for.
  const sessions = useQuery(sessionSearch({ date: isFindingJobs ? null : day, words: rest, agents }))
  const searchesMessages = words.length >= MIN_LENGTH || CHINESE.test(words)
  const messages = useQuery({ ...messageSearch(words), enabled: searchesMessages })

  const mark = (entries: Entry[], isCurrent: boolean) => entries.map((entry): Entry => ({ ...entry, isFound: true, isOutdated: !isCurrent }))
  const entries = typed === '' ? [] : [
    ...mark(runEntries(found, format, t), isPaused && jobs.data?.query === rest),
    ...sessionEntries(found, typed, format, t),
    ...(day === null ? [] : mark(foundSessions(sessions.data?.found ?? [], known, format, t), isPaused && sessions.data?.query.date === day && sessions.data.query.words === rest)),
    ...(searchesMessages ? mark((messages.data ?? []).flatMap((hit) => messageEntries(hit, format, t)), isPaused && !messages.isPlaceholderData) : []),
  ]
  const isSearching = typed !== '' && (!isPaused || isFindingJobs || (day !== null && sessions.isFetching) || (searchesMessages && messages.isFetching))
  return { entries, isSearching, searchesMessages }
}

/** The first messages of a session that have all words, or why there are none. */
function messageEntries(hit: SearchHit, format: Format, t: Translate): Entry[] {
  const title = `${format.day(hit.date)} · ${hit.model}`
  const to = (at?: number) => `/app/runs/${[hit.job_id, hit.date, hit.model].map(encodeURIComponent).join('/')}${at === undefined ? '' : `?view=conversation&at=${at}`}`
  if (hit.messages.length === 0) return [{ id: `session ${hit.session_id}`, group: 'messages', title, detail: t(NO_MESSAGE[hit.search], { count: MAX_SEARCHED }), to: to() }]
  return hit.messages.map((message): Entry => ({ id: `message ${hit.session_id} ${message.message_index}`, group: 'messages', title: `${title} · ${message.node}`, detail: excerpt(message.content, hit.words), to: to(message.message_index) }))
}

/** A text, once it has not changed for a while. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return paused
}
