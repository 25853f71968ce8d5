// Small components: tags, status marks, tabs, stats.
import { type KeyboardEvent, type ReactNode, useId, useRef } from 'react'
import { useText, useWord } from '../i18n'

export function StatusMark({ status }: { status: string }) {
  const word = useWord()
  return (
    <span className={`status ${status}`}>
      <i />
      {word('status', status)}
    </span>
  )
}

/** Labels a model that is not an LLM. Renders nothing for an LLM or if unknown. */
export function HouseTag({ isLlm }: { isLlm: boolean | null | undefined }) {
  const t = useText()
  if (isLlm !== false) return null
  return (
    <span className="tag house" title={t('house.title')}>
      {t('house.tag')}
    </span>
  )
}

export function Tag({ kind, title, children }: { kind?: 'warn' | 'bad' | 'house'; title?: string; children: ReactNode }) {
  return (
    <span className={`tag ${kind ?? ''}`} title={title}>
      {children}
    </span>
  )
}

export interface Choice<T extends string> {
  value: T
  label: string
  count?: number | null
}

interface TabsProps<T extends string> {
  label: string
  value: T
  choices: Choice<T>[]
  onChange: (value: T) => void
  children?: ReactNode
}

/** Tabs with arrow-key navigation. The child is the selected panel. */
export function Tabs<T extends string>({ label, value, choices, onChange, children }: TabsProps<T>) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const onArrow = (event: KeyboardEvent) => {
    const at = choices.findIndex((choice) => choice.value === value)
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: choices.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const next = choices[(to + choices.length) % choices.length]
    if (!next) return
    onChange(next.value)
    list.current?.querySelector<HTMLElement>(`[data-value="${CSS.escape(next.value)}"]`)?.focus()
  }
  return (
    <>
      <div className="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onArrow} tabIndex={-1}>
        {choices.map((choice) => (
          <button
            key={choice.value}
            type="button"
            role="tab"
            id={`${id}-${choice.value}`}
            data-value={choice.value}
            aria-selected={choice.value === value}
            aria-controls={`${id}-panel`}
            tabIndex={choice.value === value ? 0 : -1}
            onClick={() => onChange(choice.value)}
          >
            {choice.label}
            {choice.count != null && <small className="tnum">{choice.count}</small>}
          </button>
        ))}
      </div>
      {children !== undefined && (
        <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${value}`} className="tab-panel">
          {children}
        </div>
      )}
    </>
  )
}

/** A segmented control. */
export function Segments<T extends string>({ label, value, choices, onChange }: Omit<TabsProps<T>, 'children'>) {
  return (
    <div className="segments" role="group" aria-label={label}>
      {choices.map((choice) => (
        <button key={choice.value} type="button" aria-pressed={choice.value === value} onClick={() => onChange(choice.value)}>
          {choice.label}
        </button>
      ))}
    </div>
  )
}

interface StatProps {
  name: string
  value: ReactNode
  note?: ReactNode
  tone?: string
  title?: string
}

export function Stat({ name, value, note, tone, title }: StatProps) {
  return (
    <div className="figure" title={title}>
      <dt>{name}</dt>
      <dd className={tone}>
        {value}
        {note != null && <small>{note}</small>}
      </dd>
    </div>
  )
}

export function Pairs({ rows }: { rows: (readonly [string, ReactNode] | null)[] }) {
  return (
    <dl className="pairs">
      {rows.map((row) =>
        row ? (
          <div key={row[0]} style={{ display: 'contents' }}>
            <dt>{row[0]}</dt>
            <dd>{row[1]}</dd>
          </div>
        ) : null,
      )}
    </dl>
  )
}

export function More({ has, busy, onMore }: { has: boolean; busy: boolean; onMore: () => void }) {
  const t = useText()
  if (!has) return null
  return (
    <div className="panel-body">
      <button type="button" className="button small" disabled={busy} onClick={onMore}>
        {busy ? t('state.loading') : t('action.more')}
      </button>
    </div>
  )
}
