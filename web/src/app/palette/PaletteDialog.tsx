import { useRouter } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { useText } from '@/shared/i18n'
import { Dialog } from '@/shared/ui/dialog'
import { type Entry, found, type Group, GROUPS } from './entries'
import css from './palette.module.css'
import { useEntries } from './useEntries'
import { useSearch } from './useSearch'

export function PaletteDialog({ onClose }: { onClose: () => void }) {
  const t = useText()
  const router = useRouter()
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const [query, setQuery] = useState('')
  // By its ID, so that results that arrive do not move it. Until a key moves it, it is the first entry for the query.
  const [selected, setSelected] = useState<string | null>(null)
  const { entries, jobs } = useEntries(query)
  const search = useSearch(query, jobs)
  const visible = found([...entries, ...search.entries], query.trim())
  const chosen = visible.findIndex((entry) => entry.id === selected)
  const first = visible.findIndex((entry) => !entry.isOutdated)
  const current = chosen >= 0 ? chosen : Math.max(first, Math.min(0, visible.length - 1))

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
      setSelected(visible[(current + step + visible.length) % Math.max(1, visible.length)]?.id ?? null)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      const entry = visible[current]
      // What was found for other words is not what was typed.
      if (!entry?.isOutdated) choose(entry)
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
          setSelected(null)
        }}
      />
      <div className={css.list} id={`${id}-list`} role="listbox" aria-label={t('palette.title')} ref={list}>
        {GROUPS.map((group) => (
          <GroupView key={group} group={group} id={id} entries={visible} current={current} onChoose={choose} />
        ))}
      </div>
      <p className={`quiet ${css.foot}`} role="status">
        {search.isSearching ? t('palette.searching') : visible.length === 0 ? t('palette.none') : t('palette.hint')}
        {!search.searchesMessages && query !== '' && ` · ${t('palette.search.short')}`}
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
