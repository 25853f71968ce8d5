// One conversation: its messages, the running job, and the input.
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, type KeyboardEvent, type UIEvent, useEffect, useMemo, useRef, useState } from 'react'
import type { ChatSession, PendingAction } from '@/server/actions'
import { useDelta } from '@/server/delta'
import { chat } from '@/server/queries'
import { useSendChat } from '@/server/writes'
import { useCanOperate, useIsReadOnly } from '@/shared/access'
import { useText } from '@/shared/i18n'
import { Icon } from '@/shared/ui/icons'
import { More } from '@/shared/ui/parts'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { ChatMessage } from './ChatMessage'
import css from './chat.module.css'

interface Props {
  /** `null` for a new conversation. */
  id: string | null
  onCreated: (id: string) => void
}

export function Conversation({ id, onCreated }: Props) {
  const t = useText()
  const client = useQueryClient()
  const query = useInfiniteQuery({ ...chat(id ?? ''), enabled: id !== null })
  const canOperate = useCanOperate()
  const isReadOnly = useIsReadOnly()
  const send = useSendChat()
  const [text, setText] = useState('')
  const end = useRef<HTMLDivElement>(null)
  const textarea = useRef<HTMLTextAreaElement>(null)
  const pages = query.data?.pages
  const messages = useMemo(() => (pages ?? []).flatMap((page) => page?.messages ?? []).reverse(), [pages])
  const head = pages?.[0]
  const last = messages[messages.length - 1]
  // An answer that is still being written is empty.
  const pendingAnswer = last?.role === 'assistant' && last.content === '' ? last : undefined
  const draft = useDelta(pendingAnswer?.job_id ?? null, () => {
    void client.invalidateQueries({ queryKey: ['chat', id] })
    // The assistant's actions may have changed any of these.
    for (const key of ['chats', 'plans', 'plan', 'jobs']) void client.invalidateQueries({ queryKey: [key] })
  })
  // Keep the newest message visible. Loading older ones does not scroll.
  const newest = last?.id
  const atEnd = useRef(true)
  useEffect(() => {
    atEnd.current = true
  }, [newest])
  // Do not scroll if the user has scrolled up.
  useEffect(() => {
    if (atEnd.current) end.current?.scrollIntoView({ block: 'end' })
  }, [newest, last?.content, draft])
  const scrolled = (event: UIEvent<HTMLDivElement>) => {
    const { scrollTop, scrollHeight, clientHeight } = event.currentTarget
    atEnd.current = scrollHeight - scrollTop - clientHeight < 60
  }

  const sendMessage = (message: string, confirm?: PendingAction[]) => {
    const context = confirm && { context: { confirm: confirm.map((one) => one.id) } }
    send.mutate(
      { message, session_id: id, ...context },
      {
        onSuccess: (sent) => {
          setText('')
          if (id === null) onCreated(sent.session.id)
          else textarea.current?.focus()
        },
      },
    )
  }
  const busy = send.isPending || pendingAnswer !== undefined
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    const message = text.trim()
    if (message !== '' && !busy) sendMessage(message)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault()
      submit()
    }
  }
  const pick = (example: string) => {
    setText(example)
    textarea.current?.focus()
  }
  return (
    <section className={css.main} aria-label={t('nav.chat')}>
      {head && <Head session={head.session} />}
      {/* A scrollable region must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={css.flow} role="log" aria-label={t('chat.messages')} tabIndex={0} onScroll={scrolled}>
        <div className={css.column}>
          {id !== null && query.isPending && <Loading />}
          {query.error && !query.data && <Failed error={query.error} retry={() => void query.refetch()} />}
          {id !== null && head === null && <Empty title={t('chat.missing')} />}
          {id === null && canOperate && <Welcome onPick={pick} />}
          {id === null && isReadOnly && <Empty title={t('access.read.only')} />}
          <More has={query.hasNextPage} busy={query.isFetchingNextPage} onMore={() => void query.fetchNextPage()} />
          {messages.map((message) => (
            <ChatMessage
              key={message.id}
              message={message}
              draft={message === pendingAnswer ? draft : undefined}
              showsSummary={head?.show_action_summary ?? true}
              onConfirm={canOperate && message === last && !busy ? (pending) => sendMessage(t('chat.confirm.words'), pending) : undefined}
              onDecline={message === last && !busy ? () => sendMessage(t('chat.refuse.words')) : undefined}
            />
          ))}
          <div ref={end} />
        </div>
      </div>
      {canOperate && head !== null && (
        <form className={css.entry} onSubmit={submit}>
          <div className={css.column}>
            {send.error && <Failed error={send.error} />}
            <div className={css.box}>
              <textarea ref={textarea} className="input" rows={2} maxLength={20_000} value={text} placeholder={t('chat.ask')} aria-label={t('chat.ask')} onChange={(event) => setText(event.target.value)} onKeyDown={onKeyDown} />
              <button type="submit" className="button primary" disabled={busy || text.trim() === ''}>
                <Icon name="send" />
                {busy ? t('chat.busy') : t('chat.send')}
              </button>
            </div>
            <p className={`quiet ${css.hint}`}>{t('chat.hint')}</p>
          </div>
        </form>
      )}
    </section>
  )
}

function Head({ session }: { session: ChatSession }) {
  const t = useText()
  return (
    <header className={css.head}>
      <h2 className="clip">{session.title || t('chat.untitled')}</h2>
      {session.plan_id != null && (
        <Link to="/app/plans" search={{ plan: session.plan_id }} className="tag">
          <Icon name="plans" />
          {t('chat.plan', { plan: session.plan_id })}
        </Link>
      )}
    </header>
  )
}

function Welcome({ onPick }: { onPick: (text: string) => void }) {
  const t = useText()
  return (
    <Empty title={t('chat.hello')}>
      <p className="second">{t('chat.hello.what')}</p>
      <div className="stack">
        {(['chat.example.1', 'chat.example.2', 'chat.example.3', 'chat.example.4'] as const).map((key) => (
          <button key={key} type="button" className="button example" onClick={() => onPick(t(key))}>
            {t(key)}
          </button>
        ))}
      </div>
    </Empty>
  )
}
