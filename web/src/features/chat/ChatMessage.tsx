// One message of a conversation with the assistant, with the log of its job.
import { shortId } from '@/shared/ids'
import { Link } from '@tanstack/react-router'
import { type MouseEvent, useState } from 'react'
import type { ActionSummary, ChatMessageRow, PendingAction } from '@/server/actions'
import { useText } from '@/shared/i18n'
import { useSettings } from '@/shared/settings'
import { Icon } from '@/shared/ui/icons'
import { RichText } from '@/transcript/RichText'
import { JobLogPanel } from '../jobLog/JobLogPanel'
import css from './chat.module.css'

interface Props {
  message: ChatMessageRow
  /** The text being written, not stored yet. */
  draft?: string | undefined
  /** Whether the server shows actions. The user's setting can still hide them. */
  showsSummary?: boolean
  /** Confirms pending actions; absent if confirmation is not possible now. */
  onConfirm?: ((pending: PendingAction[]) => void) | undefined
  /** Declines them. */
  onDecline?: (() => void) | undefined
}

export function ChatMessage({ message, draft, showsSummary = true, onConfirm, onDecline }: Props) {
  const t = useText()
  const settings = useSettings()
  const { metadata } = message
  const assistant = message.role === 'assistant'
  const jobId = metadata.type === 'job_log' ? metadata.job_id : undefined
  const summary = metadata.actions_summary ?? []
  const showsList = showsSummary && settings.showActionSummary && summary.length > 0
  // The list replaces the last paragraph of the reply.
  const content = showsList ? (metadata.reply ?? message.content) : message.content
  const text = message.content === '' ? (draft ?? '') : content
  return (
    <article className={`${css.bubble} ${message.role}`} aria-label={assistant ? t('chat.assistant') : t('chat.you')}>
      {text !== '' && <RichText text={text} link={assistant ? runLink : undefined} />}
      {text === '' && assistant && <p className={`second ${css.working}`}>{t('chat.thinking')}</p>}
      {metadata.error && !text.includes(metadata.error) && <p className="down">{metadata.error}</p>}
      {onConfirm && <Confirmation pending={metadata.pending ?? []} onConfirm={onConfirm} onDecline={onDecline} />}
      {jobId != null && <Work jobId={jobId} done={message.content !== ''} />}
      {showsList && <Summary items={summary} />}
    </article>
  )
}

/** Links a job ID in a reply to its run. */
const runLink = (id: string) => (
  <Link to="/app/runs/$jobId" params={{ jobId: id }} title={id}>
    {shortId(id)}
  </Link>
)

/** Actions that await confirmation. */
function Confirmation({ pending, onConfirm, onDecline }: { pending: PendingAction[]; onConfirm: (pending: PendingAction[]) => void; onDecline: Props['onDecline'] }) {
  const t = useText()
  if (pending.length === 0) return null
  return (
    <div className="note warn" role="group" aria-label={t('chat.waiting')}>
      <Icon name="warn" />
      <div className="grow stack">
        {pending.map((one) => (
          <div key={one.id} className="row wrap">
            <span className="grow">
              {one.question}
            </span>
            <button type="button" className="button small danger" onClick={() => onConfirm([one])}>
              {t('chat.confirm')}
            </button>
          </div>
        ))}
        <div className="row wrap">
          <span className="grow second">{t('chat.waiting.why')}</span>
          {pending.length > 1 && (
            <button type="button" className="button small danger" onClick={() => onConfirm(pending)}>
              {t('chat.confirm.all')}
            </button>
          )}
          <button type="button" className="button small" onClick={onDecline}>
            {t('chat.refuse')}
          </button>
        </div>
      </div>
    </div>
  )
}

/** The action log: expanded while the job runs, collapsed when done, unless the user toggled it. */
function Work({ jobId, done }: { jobId: string; done: boolean }) {
  const t = useText()
  const [override, setOverride] = useState<boolean | null>(null)
  const open = override ?? !done
  const toggle = (event: MouseEvent) => {
    event.preventDefault()
    setOverride(!open)
  }
  return (
    <details open={open}>
      <summary className="second" onClick={toggle}>
        {t('chat.work')}
      </summary>
      {open && <JobLogPanel jobId={jobId} expectType="chat_action" />}
    </details>
  )
}

function Summary({ items }: { items: ActionSummary[] }) {
  const t = useText()
  const failed = items.filter((item) => item.success === false).length
  return (
    <details className={css.summary} open={failed > 0}>
      <summary className="second">{failed > 0 ? t('chat.summary.failed', { count: items.length, failed }) : t('chat.summary', { count: items.length })}</summary>
      <ol>
        {items.map((item) => (
          <li key={item.order} className={item.success === false ? 'down' : ''}>
            <span className="quiet num">{item.order}</span>{' '}
            <code>
              {item.kind}/{item.name}
            </code>
            {item.success != null && <> → {item.success ? t('chat.succeeded') : t('chat.failed')}</>}
            {item.success === false && <Icon name="warn" />}
            {item.message && <p className="second">{item.message}</p>}
            <Refs item={item} />
          </li>
        ))}
      </ol>
    </details>
  )
}

/** Links to the runs and the plan of an action. */
function Refs({ item }: { item: ActionSummary }) {
  const t = useText()
  // A plan's job has no page of its own, so link to the plan.
  const refs = item.refs.filter((ref) => ref.type === 'plan' || item.kind === 'tool_operation')
  if (refs.length === 0) return null
  return (
    <p className="row wrap">
      {refs.map((ref) =>
        ref.type === 'plan' ? (
          <Link key={ref.id} to="/app/plans" search={{ plan: Number(ref.id) }} className="tag">
            {t('chat.ref.plan', { id: ref.id })}
          </Link>
        ) : (
          <Link key={ref.id} to="/app/runs/$jobId" params={{ jobId: ref.id }} className="tag">
            {t('chat.ref.run', { id: shortId(ref.id) })}
          </Link>
        ),
      )}
    </p>
  )
}
