// One conversation: what was said, what is being done, and the place to write.
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, type KeyboardEvent, type UIEvent, useEffect, useMemo, useRef, useState } from 'react'
import type { ChatSession, PendingAction } from '@/server/actions'
import { useDelta } from '@/server/delta'
import { chat } from '@/server/queries'
import { useSendChat } from '@/server/writes'
import { useText } from '@/shared/i18n'
import { Icon } from '@/shared/ui/icons'
import { More } from '@/shared/ui/parts'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { ChatMessage } from './ChatMessage'

interface Props {
  /** `null`: one that is still to begin. */
  id: string | null
  onBegun: (id: string) => void
}

export function Conversation({ id, onBegun }: Props) {
  const t = useText()
  const client = useQueryClient()
  const found = useInfiniteQuery({ ...chat(id ?? ''), enabled: id !== null })
  const send = useSendChat()
  const [text, setText] = useState('')
  const end = useRef<HTMLDivElement>(null)
  const entry = useRef<HTMLTextAreaElement>(null)
  const pages = found.data?.pages
  const messages = useMemo(() => (pages ?? []).flatMap((page) => page?.messages ?? []).reverse(), [pages])
  const head = pages?.[0]
  const last = messages[messages.length - 1]
  // An answer that is still being written has no words yet.
  const open = last?.role === 'assistant' && last.content === '' ? last : undefined
  const draft = useDelta(open?.job_id ?? null, () => {
    void client.invalidateQueries({ queryKey: ['chat', id] })
    // What was done may have changed any of these.
    for (const key of ['chats', 'plans', 'plan', 'jobs']) void client.invalidateQueries({ queryKey: [key] })
  })
  // The newest words stay in sight; older ones that are asked for do not move them.
  const newest = last?.id
  const atEnd = useRef(true)
  useEffect(() => {
    atEnd.current = true
  }, [newest])
  // A reader who has gone up to read stays there while words come.
  useEffect(() => {
    if (atEnd.current) end.current?.scrollIntoView({ block: 'end' })
  }, [newest, last?.content, draft])
  const scrolled = (event: UIEvent<HTMLDivElement>) => {
    const { scrollTop, scrollHeight, clientHeight } = event.currentTarget
    atEnd.current = scrollHeight - scrollTop - clientHeight < 60
  }

  const say = (message: string, confirm?: PendingAction[]) => {
    const context = confirm && { context: { confirm: confirm.map((one) => one.id) } }
    send.mutate(
      { message, session_id: id, ...context },
      {
        onSuccess: (sent) => {
          setText('')
          if (id === null) onBegun(sent.session.id)
          else entry.current?.focus()
        },
      },
    )
  }
  const busy = send.isPending || open !== undefined
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    const message = text.trim()
    if (message !== '' && !busy) say(message)
  }
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault()
      submit()
    }
  }
  const pick = (example: string) => {
    setText(example)
    entry.current?.focus()
  }
  return (
    <section className="chat-main" aria-label={t('nav.chat')}>
      {head && <Head session={head.session} />}
      {/* A region that scrolls must be reached by the keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="chat-flow" role="log" aria-label={t('chat.messages')} tabIndex={0} onScroll={scrolled}>
        <div className="chat-column">
          {id !== null && found.isPending && <Loading />}
          {found.error && !found.data && <Failed error={found.error} retry={() => void found.refetch()} />}
          {id !== null && head === null && <Empty title={t('chat.missing')} />}
          {id === null && <Hello onPick={pick} />}
          <More has={found.hasNextPage} busy={found.isFetchingNextPage} onMore={() => void found.fetchNextPage()} />
          {messages.map((message) => (
            <ChatMessage
              key={message.id}
              message={message}
              draft={message === open ? draft : undefined}
              showsSummary={head?.show_action_summary ?? true}
              onConfirm={message === last && !busy ? (pending) => say(t('chat.confirm.words'), pending) : undefined}
              onRefuse={message === last && !busy ? () => say(t('chat.refuse.words')) : undefined}
            />
          ))}
          <div ref={end} />
        </div>
      </div>
      {head !== null && (
        <form className="chat-entry" onSubmit={submit}>
          <div className="chat-column">
            {send.error && <Failed error={send.error} />}
            <div className="chat-box">
              <textarea ref={entry} className="input" rows={2} maxLength={20_000} value={text} placeholder={t('chat.ask')} aria-label={t('chat.ask')} onChange={(event) => setText(event.target.value)} onKeyDown={keys} />
              <button type="submit" className="button primary" disabled={busy || text.trim() === ''}>
                <Icon name="send" />
                {busy ? t('chat.busy') : t('chat.send')}
              </button>
            </div>
            <p className="quiet chat-hint">{t('chat.hint')}</p>
          </div>
        </form>
      )}
    </section>
  )
}

function Head({ session }: { session: ChatSession }) {
  const t = useText()
  return (
    <header className="chat-head">
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

function Hello({ onPick }: { onPick: (text: string) => void }) {
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
