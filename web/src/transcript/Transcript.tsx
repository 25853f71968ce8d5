// A conversation of any length: only visible messages are in the DOM.
import { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Message } from '@/server/types'
import { useText } from '@/shared/i18n'
import { MessageDiff } from './MessageDiff'
import { MessageView } from './MessageView'

interface Props {
  messages: Message[]
  /** The number of messages that are still loading. */
  remaining?: number
  /** Why loading stopped. */
  error?: Error | null
  onRetry?: () => void
  showsNodes?: boolean
  /** Scroll to the message of this step. */
  focusPath?: string | null | undefined
  /** Scroll to the message with this number. */
  focusIndex?: number | null | undefined
  /** Stay at the end while messages arrive. */
  follows?: boolean
  onPath?: (path: string) => void
}

/** Whether the message contains all the words. */
export function matches(message: Message, words: string[]): boolean {
  const text = `${message.content} ${message.tool_name ?? ''} ${message.node}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

export function Transcript({ messages, remaining = 0, error, onRetry, showsNodes, focusPath, focusIndex, follows, onPath }: Props) {
  const t = useText()
  const [query, setQuery] = useState('')
  const box = useRef<HTMLDivElement>(null)
  const [picked, setPicked] = useState<Message[]>([])
  const pick = useCallback((message: Message) => setPicked((now) => (now.includes(message) ? now.filter((one) => one !== message) : [...now.slice(-1), message])), [])
  const [first, second] = [...picked].sort((a, b) => a.message_index - b.message_index)
  const visible = useMemo(() => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean)
    return words.length === 0 ? messages : messages.filter((message) => matches(message, words))
  }, [messages, query])

  const rows = useVirtualizer({
    count: visible.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => Math.min(600, 64 + (visible[index]?.content.length ?? 0) / 5),
    getItemKey: (index) => visible[index]?.message_index ?? index,
    overscan: 6,
  })

  const focused = useMemo(
    () => visible.findIndex((message) => (focusIndex == null ? focusPath != null && message.path === focusPath : message.message_index === focusIndex)),
    [visible, focusPath, focusIndex],
  )
  useEffect(() => {
    if (focused >= 0) rows.scrollToIndex(focused, { align: 'start' })
    // Rows are measured as they are rendered; scroll only once.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [focused, focusPath, focusIndex])

  const atEnd = useRef(true)
  useEffect(() => {
    if (follows && atEnd.current && visible.length > 0) rows.scrollToIndex(visible.length - 1, { align: 'end' })
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [follows, visible.length])

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
          {query ? t('transcript.found', { found: visible.length, total: messages.length }) : t('transcript.count', { count: messages.length })}
          {remaining > 0 && !error && <> · {t('transcript.coming', { count: remaining })}</>}
        </span>
        {remaining > 0 && error && (
          <button type="button" className="button small" title={error.message} onClick={onRetry}>
            {t('transcript.broken', { count: remaining })}
          </button>
        )}
        {first && !second && (
          <span className="quiet" role="status">
            {t('diff.another')}
          </span>
        )}
      </div>
      {first && second && <MessageDiff before={first} after={second} onClose={() => setPicked([])} />}
      {/* A scrollable region must be reachable by keyboard. */}
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
            const message = visible[row.index]
            if (!message) return null
            return (
              <div
                key={row.key}
                data-index={row.index}
                ref={rows.measureElement}
                className="transcript-row"
                style={{ transform: `translateY(${row.start}px)` }}
              >
                <MessageView message={message} showsNode={showsNodes ?? false} marked={row.index === focused} onPath={onPath} onDiff={pick} isPicked={picked.includes(message)} />
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}
