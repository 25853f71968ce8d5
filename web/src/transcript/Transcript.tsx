// A conversation of any length: only what is in sight is in the page.
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Message } from '@/server/types'
import { useText } from '@/shared/i18n'
import { MessageView } from './MessageView'

interface Props {
  messages: Message[]
  /** So many more are on their way. */
  coming?: number
  /** Why they are not. */
  error?: Error | null
  onAgain?: () => void
  showsNodes?: boolean
  /** The step that is to be in sight. */
  focusPath?: string | null | undefined
  /** The message that is to be in sight, by its number. */
  focusIndex?: number | null | undefined
  /** Stay at the end while messages come. */
  follows?: boolean
  onPath?: (path: string) => void
}

/** Has the message all these words? */
export function matches(message: Message, words: string[]): boolean {
  const text = `${message.content} ${message.tool_name ?? ''} ${message.node}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

export function Transcript({ messages, coming = 0, error, onAgain, showsNodes, focusPath, focusIndex, follows, onPath }: Props) {
  const t = useText()
  const [query, setQuery] = useState('')
  const box = useRef<HTMLDivElement>(null)
  const shown = useMemo(() => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean)
    return words.length === 0 ? messages : messages.filter((message) => matches(message, words))
  }, [messages, query])

  const rows = useVirtualizer({
    count: shown.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => Math.min(600, 64 + (shown[index]?.content.length ?? 0) / 5),
    getItemKey: (index) => shown[index]?.message_index ?? index,
    overscan: 6,
  })

  const focused = useMemo(
    () => shown.findIndex((message) => (focusIndex == null ? focusPath != null && message.path === focusPath : message.message_index === focusIndex)),
    [shown, focusPath, focusIndex],
  )
  useEffect(() => {
    if (focused >= 0) rows.scrollToIndex(focused, { align: 'start' })
    // Rows are measured as they come; the place is asked for once.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [focused, focusPath, focusIndex])

  const atEnd = useRef(true)
  useEffect(() => {
    if (follows && atEnd.current && shown.length > 0) rows.scrollToIndex(shown.length - 1, { align: 'end' })
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [follows, shown.length])

  return (
    <div className="transcript">
      <div className="transcript-tools row">
        <input
          className="input"
          type="search"
          value={query}
          placeholder={t('transcript.find')}
          aria-label={t('transcript.find')}
          onChange={(event) => setQuery(event.target.value)}
        />
        <span className="quiet tnum nowrap" role="status">
          {query ? t('transcript.found', { found: shown.length, total: messages.length }) : t('transcript.count', { count: messages.length })}
          {coming > 0 && !error && <> · {t('transcript.coming', { count: coming })}</>}
        </span>
        {coming > 0 && error && (
          <button type="button" className="button small" title={error.message} onClick={onAgain}>
            {t('transcript.broken', { count: coming })}
          </button>
        )}
      </div>
      {/* A region that scrolls must be reached by the keyboard. */}
      <div
        className="transcript-box"
        ref={box}
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={t('transcript.label')}
        onScroll={(event) => {
          const { scrollTop, scrollHeight, clientHeight } = event.currentTarget
          atEnd.current = scrollHeight - scrollTop - clientHeight < 60
        }}
      >
        <div className="transcript-space" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((row) => {
            const message = shown[row.index]
            if (!message) return null
            return (
              <div
                key={row.key}
                data-index={row.index}
                ref={rows.measureElement}
                className="transcript-row"
                style={{ transform: `translateY(${row.start}px)` }}
              >
                <MessageView message={message} showsNode={showsNodes ?? false} marked={row.index === focused} onPath={onPath} />
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}
