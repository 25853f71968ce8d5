import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { useText } from '@/shared/i18n'
import { Dialog } from '@/shared/ui/dialog'
import { MAX_SEARCHED, messageSearch } from '@/server/judging'
import { type Entry, excerpt, found, type Group, GROUPS } from './entries'
import css from './palette.module.css'
import { useEntries } from './useEntries'

/** How long typing must pause before messages are searched. */
const PAUSE_MS = 250
/** Shorter queries match too many messages. A Chinese word may have two characters. */
const MIN_LENGTH = 3
const CHINESE = /[\u3400-\u9fff]{2}/

/** What is shown instead of a message. */
const NO_MESSAGE = { reading: 'palette.reading', done: 'palette.no.context', cut: 'palette.further' } as const

export function PaletteDialog({ onClose }: { onClose: () => void }) {
  const t = useText()
  const router = useRouter()
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const [query, setQuery] = useState('')
  const [selected, setSelected] = useState(0)
  const words = usePaused(query.trim())
  const searches = words.length >= MIN_LENGTH || CHINESE.test(words)
  const messages = useQuery({ ...messageSearch(words), enabled: searches })
  const entries = useEntries(query)
  const hits = (searches ? (messages.data ?? []) : []).flatMap((hit) => {
    const title = `${hit.date} · ${hit.model}`
    const to = (at?: number) => `/app/runs/${[hit.job_id, hit.date, hit.model].map(encodeURIComponent).join('/')}${at === undefined ? '' : `?view=conversation&at=${at}`}`
    if (hit.messages.length === 0) return [{ id: `session ${hit.session_id}`, group: 'messages', title, detail: t(NO_MESSAGE[hit.search], { count: MAX_SEARCHED }), to: to() } satisfies Entry]
    return hit.messages.map((message): Entry => ({ id: `message ${hit.session_id} ${message.message_index}`, group: 'messages', title: `${title} · ${message.node}`, detail: excerpt(message.content, words), to: to(message.message_index) }))
  })
  const visible = [...found(entries, query.trim()), ...hits]
  const current = Math.min(selected, visible.length - 1)

  useEffect(() => {
    input.current?.focus()
  }, [])
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [current, query])

  const choose = (entry: Entry | undefined) => {
    if (!entry) return
    onClose()
    if (entry.to) router.history.push(entry.to)
    else entry.run?.()
  }
  const onKey = (event: KeyboardEvent) => {
    // Enter that confirms an input method's candidate is not a choice.
    if (event.nativeEvent.isComposing) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setSelected((current + step + visible.length) % Math.max(1, visible.length))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      choose(visible[current])
    }
  }
  return (
    <Dialog className="modal" label={t('palette.title')} onClose={onClose} marker="palette">
      <input
        ref={input}
        className={`input ${css.input}`}
        type="text"
        role="combobox"
        aria-expanded
        aria-controls={`${id}-list`}
        aria-activedescendant={current >= 0 ? `${id}-${current}` : undefined}
        aria-label={t('palette.title')}
        placeholder={t('palette.placeholder')}
        value={query}
        onKeyDown={onKey}
        onChange={(event) => {
          setQuery(event.target.value)
          setSelected(0)
        }}
      />
      <div className={css.list} id={`${id}-list`} role="listbox" aria-label={t('palette.title')} ref={list}>
        {GROUPS.map((group) => (
          <GroupView key={group} group={group} id={id} entries={visible} current={current} onChoose={choose} />
        ))}
      </div>
      <p className={`quiet ${css.foot}`} role="status">
        {messages.isFetching && searches ? t('palette.searching') : visible.length === 0 ? t('palette.none') : t('palette.hint')}
        {!searches && query !== '' && ` · ${t('palette.search.short')}`}
      </p>
    </Dialog>
  )
}

interface GroupProps {
  group: Group
  id: string
  entries: Entry[]
  current: number
  onChoose: (entry: Entry) => void
}

function GroupView({ group, id, entries, current, onChoose }: GroupProps) {
  const t = useText()
  const own = entries.map((entry, index) => ({ entry, index })).filter(({ entry }) => entry.group === group)
  if (own.length === 0) return null
  const title = t(`palette.group.${group}`)
  return (
    <div role="group" aria-label={title}>
      <div className={css.group} aria-hidden="true">
        {title}
      </div>
      {own.map(({ entry, index }) => (
        // The input handles the keys.
        // eslint-disable-next-line jsx-a11y/click-events-have-key-events
        <div key={entry.id} id={`${id}-${index}`} className={css.entry} role="option" tabIndex={-1} aria-selected={index === current} onClick={() => onChoose(entry)}>
          <span className={css.title}>{entry.title}</span>
          {entry.detail && <span className={group === 'messages' ? css.context : css.detail}>{entry.detail}</span>}
        </div>
      ))}
    </div>
  )
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
