// One message of a conversation with the assistant, with the work that it set off.
import { useState } from 'react'
import type { ActionSummary, ChatMessageRow, PendingAction } from '@/server/actions'
import { useText, useWord } from '@/shared/i18n'
import { useSettings } from '@/shared/settings'
import { Icon } from '@/shared/ui/icons'
import { RichText } from '@/transcript/RichText'
import { JobLogPanel } from '../joblog/JobLogPanel'

interface Props {
  message: ChatMessageRow
  /** What is being written and is not kept yet. */
  draft?: string | undefined
  /** Does the server want actions shown? The reader may still not. */
  showsSummary?: boolean
  /** Says yes to an action that waits; absent: it is too late, or too early. */
  onConfirm?: ((pending: PendingAction) => void) | undefined
}

export function ChatMessage({ message, draft, showsSummary = true, onConfirm }: Props) {
  const word = useWord()
  const t = useText()
  const settings = useSettings()
  const metadata = message.metadata ?? {}
  const jobId = metadata.type === 'job_log' ? metadata.job_id : undefined
  const summary = metadata.actions_summary ?? []
  const text = message.content === '' ? (draft ?? '') : message.content
  return (
    <article className={`bubble ${message.role}`} aria-label={word('role', message.role)}>
      {text !== '' && <RichText text={text} />}
      {text === '' && message.role === 'assistant' && <p className="second">{t('chat.thinking')}</p>}
      {metadata.error && <p className="down">{metadata.error}</p>}
      {jobId !== undefined && <Work jobId={jobId} planId={metadata.plan_id ?? null} done={message.content !== ''} />}
      {onConfirm && <Waiting pending={metadata.pending ?? []} onConfirm={onConfirm} />}
      {showsSummary && settings.showActionSummary && summary.length > 0 && <Summary items={summary} />}
    </article>
  )
}

/** What is done only when somebody says yes. */
function Waiting({ pending, onConfirm }: { pending: PendingAction[]; onConfirm: (pending: PendingAction) => void }) {
  const t = useText()
  if (pending.length === 0) return null
  return (
    <div className="stack">
      {pending.map((one) => (
        <div key={one.id} className="note warn">
          <span className="grow">{one.question}</span>
          <button type="button" className="button small" onClick={() => onConfirm(one)}>
            {t('chat.confirm')}
          </button>
        </div>
      ))}
    </div>
  )
}

/** Open while it works, folded when it is done. */
function Work({ jobId, planId, done }: { jobId: string; planId: number | null; done: boolean }) {
  const t = useText()
  const [open, setOpen] = useState(!done)
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="second">{t('chat.work')}</summary>
      {open && <JobLogPanel jobId={jobId} expectType="chat_action" planId={planId} />}
    </details>
  )
}

function Summary({ items }: { items: ActionSummary[] }) {
  const t = useText()
  const failed = items.filter((item) => item.success === false).length
  return (
    <details className="summary" open={failed > 0}>
      <summary className="second">{failed > 0 ? t('chat.summary.failed', { count: items.length, failed }) : t('chat.summary', { count: items.length })}</summary>
      <ol>
        {items.map((item) => (
          <li key={item.order} className={item.success === false ? 'down' : ''}>
            <span className="quiet num">{item.order}</span> {item.display}
            {item.success === false && <Icon name="warn" />}
            {item.message && <p className="second">{item.message}</p>}
          </li>
        ))}
      </ol>
    </details>
  )
}
