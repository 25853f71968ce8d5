// Loading, empty and error states.
import type { ReactNode } from 'react'
import { useState } from 'react'
import { ApiError } from '@/server/client'
import { useText } from '../i18n'
import { isCode, useCode } from '../i18n/codes'
import { Icon } from './icons'

export function Loading({ rows = 6 }: { rows?: number }) {
  const t = useText()
  return (
    <div className="skeleton" role="status">
      <span className="hidden-label">{t('state.loading')}</span>
      {Array.from({ length: rows }, (_, row) => (
        <i key={row} />
      ))}
    </div>
  )
}

interface EmptyProps {
  title: string
  children?: ReactNode
  /** The command that adds data. */
  command?: string
  /** It is the whole page, so that its title is the page's. */
  isPage?: boolean
}

export function Empty({ title, children, command, isPage = false }: EmptyProps) {
  const Title = isPage ? 'h1' : 'h2'
  return (
    <div className="empty">
      <Title>{title}</Title>
      {children}
      {command && <Command text={command} />}
    </div>
  )
}

/** What a page will contain, where it is still empty. */
export function Example({ children }: { children: ReactNode }) {
  const t = useText()
  return (
    <figure className="example" aria-label={t('state.example')}>
      <figcaption className="tag house">{t('state.example')}</figcaption>
      {children}
    </figure>
  )
}

interface FailedProps {
  error: unknown
  retry?: () => void
}

/** What went wrong, and what to do. */
export function Failed({ error, retry }: FailedProps) {
  const t = useText()
  const code = useCode()
  const offline = error instanceof ApiError && error.status === 0
  const known = error instanceof ApiError && isCode('error', error.code) ? code('error', error.code) : null
  const message = error instanceof Error ? error.message : String(error)
  return (
    <div className="note bad" role="alert">
      <Icon name="warn" />
      <div className="grow stack">
        <div>
          <strong title={error instanceof ApiError ? error.code : undefined}>{offline ? t('state.offline') : (known ?? t('state.failed'))}</strong>
          {offline ? t('state.offline.why') : message}
        </div>
        {offline && <Command text="papertape serve" />}
        {retry && (
          <div>
            <button type="button" className="button small" onClick={retry}>
              {t('action.retry')}
            </button>
          </div>
        )}
      </div>
    </div>
  )
}

interface NoteProps {
  kind?: 'warn' | 'bad'
  title?: string
  children?: ReactNode
}

export function Note({ kind, title, children }: NoteProps) {
  return (
    <div className={`note ${kind ?? ''}`}>
      {kind && <Icon name="warn" />}
      <div className="grow">
        {title && <strong>{title}</strong>}
        {children}
      </div>
    </div>
  )
}

/** A command with a copy button. */
export function Command({ text }: { text: string }) {
  const t = useText()
  const [copied, setCopied] = useState(false)
  const copy = () => {
    void navigator.clipboard?.writeText(text).then(() => {
      setCopied(true)
      setTimeout(() => setCopied(false), 1500)
    })
  }
  return (
    <div className="command">
      <code>{text}</code>
      <button type="button" onClick={copy}>
        {copied ? t('action.copied') : t('action.copy')}
      </button>
    </div>
  )
}
