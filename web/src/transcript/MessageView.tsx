// One message of a conversation: a text, or a tool call with its result.
import { memo } from 'react'
import type { Message } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { argumentOf } from '@/server/recorded'
import { CopyButton } from '@/shared/ui/copy'
import { Icon } from '@/shared/ui/icons'
import { MessageText } from './MessageText'

interface Props {
  message: Message
  /** Whether to show the node's name. */
  showsNode?: boolean
  marked?: boolean
  onPath?: ((path: string) => void) | undefined
  /** Selects the message for a diff. */
  onDiff?: ((message: Message) => void) | undefined
  /** Whether it is selected for a diff. */
  isPicked?: boolean
}

export const MessageView = memo(function MessageView({ message, showsNode, marked, onPath, onDiff, isPicked }: Props) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  const tool = message.role === 'tool'
  return (
    <article className={`message ${message.role}${marked ? ' marked' : ''}`} aria-label={word('role', message.role)}>
      <header className="message-head">
        <span className="message-who">{tool ? <ToolName message={message} /> : word('role', message.role)}</span>
        {showsNode && <span className="quiet clip">{message.node}</span>}
        <span className="grow" />
        {onPath ? (
          <button type="button" className="path" onClick={() => onPath(message.path)}>
            {message.path}
          </button>
        ) : (
          <span className="path">{message.path}</span>
        )}
        <time className="quiet tnum" dateTime={message.timestamp}>
          {format.clock(message.timestamp)}
        </time>
        {onDiff && (
          <button type="button" className="button small plain" aria-pressed={isPicked ?? false} title={t('diff.pick')} onClick={() => onDiff(message)}>
            {t('diff.label')}
          </button>
        )}
        <CopyButton text={message.content} describes={t('reading.copy')} />
      </header>
      <div className="message-body">
        {tool ? <ToolResult message={message} /> : <ModelText text={message.content} />}
        {message.summary_error && <p className="quiet">{message.summary_error}</p>}
      </div>
    </article>
  )
})

function ToolName({ message }: { message: Message }) {
  const argumentList = Object.entries(message.tool_input ?? {}).filter(([key]) => key !== 'reason')
  const text = argumentList.map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`).join(', ')
  return (
    <span className="tool-call">
      <Icon name="tool" />
      <code>
        <b>{message.tool_name ?? 'tool'}</b>
        <span className="second">({text})</span>
      </code>
    </span>
  )
}

function ToolResult({ message }: { message: Message }) {
  const reason = argumentOf(message.tool_input, 'reason')
  return (
    <>
      {reason && <p className="tool-reason">{reason}</p>}
      <MessageText text={message.content} plain />
    </>
  )
}

function ModelText({ text }: { text: string }) {
  const t = useText()
  return text === '' ? <p className="quiet">{t('transcript.no.words')}</p> : <MessageText text={text} />
}
