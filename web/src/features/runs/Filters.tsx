// Search and filters of the list of runs. All of them are in the address.
import { useEffect, useRef, useState } from 'react'
import type { Job } from '@/server/types'
import { useText, useWord } from '@/shared/i18n'
import { isTyping } from '@/shared/keys'
import { oneOf } from '@/shared/oneOf'
import { Icon } from '@/shared/ui/icons'
import { isFiltered, QUALITIES, type RunsSearch, STATUSES } from './address'
import css from './runs.module.css'

/** A search is sent once typing pauses. */
const PAUSE_MS = 250

interface Props {
  search: RunsSearch
  /** The runs loaded so far, for suggestions. */
  loaded: Job[]
  onChange: (part: Partial<RunsSearch>) => void
}

export function Filters({ search, loaded, onChange }: Props) {
  const t = useText()
  const word = useWord()
  const hasMore = [search.tag, search.model, search.dataset, search.from, search.to].some((value) => value !== undefined)
  return (
    <div className={css.filters} role="search" aria-label={t('runs.search')}>
      <SearchField key={`search ${search.search ?? ''}`} value={search.search ?? ''} onChange={(value) => onChange({ search: value || undefined })} />
      <select className="select short" aria-label={t('runs.filter.status')} value={search.status ?? ''} onChange={(event) => onChange({ status: oneOf(event.target.value, STATUSES) })}>
        <option value="">{t('runs.status.any')}</option>
        {STATUSES.map((status) => (
          <option key={status} value={status}>
            {word('status', status)}
          </option>
        ))}
      </select>
      <select className="select short" aria-label={t('runs.filter.quality')} value={search.quality ?? ''} onChange={(event) => onChange({ quality: oneOf(event.target.value, QUALITIES) })}>
        <option value="">{t('runs.quality.any')}</option>
        {QUALITIES.map((quality) => (
          <option key={quality} value={quality}>
            {t(`runs.quality.${quality}`)}
          </option>
        ))}
      </select>
      <MoreFilters key={String(hasMore)} open={hasMore} search={search} loaded={loaded} onChange={onChange} />
      {isFiltered(search) && (
        <button
          type="button"
          className="button small plain"
          onClick={() => onChange({ search: undefined, status: undefined, quality: undefined, tag: undefined, model: undefined, dataset: undefined, from: undefined, to: undefined })}
        >
          <Icon name="close" />
          {t('runs.clear')}
        </button>
      )}
    </div>
  )
}

function SearchField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const t = useText()
  const [typed, setTyped] = useState(value)
  const field = useRef<HTMLInputElement>(null)
  const hadFocus = useRef(false)
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== '/' || isTyping(event)) return
      event.preventDefault()
      field.current?.focus()
    }
    window.addEventListener('keydown', pressed)
    return () => window.removeEventListener('keydown', pressed)
  }, [])
  useEffect(() => {
    if (typed.trim() === value) return
    const timer = setTimeout(() => onChange(typed.trim()), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed, value, onChange])
  return (
    <input
      ref={field}
      className={`input ${css.search}`}
      type="search"
      maxLength={200}
      aria-label={t('runs.search')}
      placeholder={t('runs.search.hint')}
      value={typed}
      onFocus={() => {
        hadFocus.current = true
      }}
      onChange={(event) => setTyped(event.target.value)}
    />
  )
}

const unique = (values: (string | undefined)[]) => [...new Set(values.filter((value) => value !== undefined))].sort().slice(0, 200)

function MoreFilters({ open, search, loaded, onChange }: Props & { open: boolean }) {
  const t = useText()
  const [isOpen, setOpen] = useState(open)
  const agents = loaded.flatMap((job) => job.simulation?.agents ?? [])
  return (
    <details className={css.more} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="second">{t('runs.more')}</summary>
      {isOpen && (
        <div className="row wrap">
          <Pick name={t('runs.filter.model')} value={search.model} values={unique(agents.flatMap((agent) => [agent.name, agent.model]))} onChange={(model) => onChange({ model })} />
          <Pick name={t('runs.filter.dataset')} value={search.dataset} values={unique(loaded.map((job) => job.simulation?.dataset.name))} onChange={(dataset) => onChange({ dataset })} />
          <Pick name={t('runs.filter.tag')} value={search.tag} values={unique(loaded.flatMap((job) => job.labels.tags))} onChange={(tag) => onChange({ tag })} />
          <Day name={t('runs.filter.from')} value={search.from} onChange={(from) => onChange({ from })} />
          <Day name={t('runs.filter.to')} value={search.to} onChange={(to) => onChange({ to })} />
        </div>
      )}
    </details>
  )
}

/** A text with suggestions. It applies when it is complete: on Enter, when leaving the field, or when it is suggested. */
function Pick({ name, value, values, onChange }: { name: string; value: string | undefined; values: string[]; onChange: (value: string | undefined) => void }) {
  const [typed, setTyped] = useState(value ?? '')
  const [applied, setApplied] = useState(value)
  if (applied !== value) {
    setApplied(value)
    setTyped(value ?? '')
  }
  const id = `runs-${name.replace(/\W+/g, '-')}`
  const apply = (text: string) => {
    if ((text.trim() || undefined) !== value) onChange(text.trim() || undefined)
  }
  return (
    <label className="field">
      <span>{name}</span>
      <input
        className="input"
        list={id}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value)
          if (values.includes(event.target.value)) apply(event.target.value)
        }}
        onBlur={() => apply(typed)}
        onKeyDown={(event) => event.key === 'Enter' && apply(typed)}
      />
      <datalist id={id}>
        {values.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </datalist>
    </label>
  )
}

function Day({ name, value, onChange }: { name: string; value: string | undefined; onChange: (value: string | undefined) => void }) {
  return (
    <label className="field">
      <span>{name}</span>
      <input className="input" type="date" value={value ?? ''} onChange={(event) => onChange(event.target.value || undefined)} />
    </label>
  )
}
