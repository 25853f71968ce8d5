// Conversations with the assistant, who runs the desk.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import type { ChatMessageRow, PendingAction } from '@/server/actions'
import { useDelta } from '@/server/delta'
import { chat, chats } from '@/server/queries'
import { useSendChat } from '@/server/writes'
import { useText } from '@/shared/i18n'
import { Icon } from '@/shared/ui/icons'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { ChatMessage } from './ChatMessage'

export function ChatPage() {
  const t = useText()
  const navigate = useNavigate({ from: '/app/chat' })
  const search = useSearch({ from: '/app/chat' })
  const found = useQuery(chats())
  const sessions = found.data?.sessions ?? []
  const chosen = search.session ?? null
  if (found.isPending) {
    return (
      <div className="page">
        <Loading />
      </div>
    )
  }
  if (found.error) {
    return (
      <div className="page">
        <Failed error={found.error} retry={() => void found.refetch()} />
      </div>
    )
  }
  if (found.data === null) {
    return (
      <div className="page">
        <h1>{t('nav.chat')}</h1>
        <Empty title={t('chat.absent')}>
          <p className="second">{t('chat.absent.why')}</p>
        </Empty>
      </div>
    )
  }
  return (
    <div className="chat">
      <h1 className="hidden-label">{t('nav.chat')}</h1>
      <nav className="chat-list" aria-label={t('chat.sessions')}>
        <button type="button" className="button" onClick={() => void navigate({ search: {} })}>
          <Icon name="plus" />
          {t('chat.new')}
        </button>
        {sessions.map((one) => (
          <button key={one.id} type="button" className="list-item" aria-current={one.id === chosen ? 'true' : undefined} onClick={() => void navigate({ search: { session: one.id } })}>
            <span className="clip">{one.title || t('chat.untitled')}</span>
          </button>
        ))}
      </nav>
      <Conversation key={chosen ?? 'new'} id={chosen} onBegun={(session) => void navigate({ search: { session }, replace: true })} />
    </div>
  )
}

function Conversation({ id, onBegun }: { id: string | null; onBegun: (id: string) => void }) {
  const t = useText()
  const client = useQueryClient()
  const found = useQuery({ ...chat(id ?? ''), enabled: id !== null })
  const send = useSendChat()
  const [text, setText] = useState('')
  const end = useRef<HTMLDivElement>(null)
  const messages = useMemo(() => (id === null ? [] : [...(found.data?.messages ?? [])].reverse()), [id, found.data])
  const open = messages.findLast((message) => message.role === 'assistant' && message.content === '' && message.metadata?.job_id)
  const draft = useDelta(open?.metadata?.job_id ?? null, () => void client.invalidateQueries({ queryKey: ['chat', id] }))
  useEffect(() => end.current?.scrollIntoView({ block: 'end' }), [messages.length, draft])

  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    const message = text.trim()
    if (message === '' || send.isPending) return
    send.mutate(
      { message, session_id: id },
      {
        onSuccess: (sent) => {
          setText('')
          if (id === null) onBegun(sent.session.id)
        },
      },
    )
  }
  const confirm = (pending: PendingAction) => send.mutate({ message: t('chat.confirm.words'), session_id: id, context: { confirm: [pending.id] } })
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault()
      submit()
    }
  }
  return (
    <section className="chat-main" aria-label={t('nav.chat')}>
      <div className="chat-flow" role="log" aria-label={t('chat.messages')}>
        {id !== null && found.isPending && <Loading />}
        {found.error && <Failed error={found.error} retry={() => void found.refetch()} />}
        {id !== null && found.data === null && <Empty title={t('chat.missing')} />}
        {id === null && <Hello onPick={setText} />}
        {messages.map((message: ChatMessageRow) => (
          <ChatMessage
            key={message.id}
            message={message}
            draft={message === open ? draft : undefined}
            showsSummary={found.data?.show_action_summary ?? true}
            onConfirm={message === messages[messages.length - 1] && !send.isPending ? confirm : undefined}
          />
        ))}
        <div ref={end} />
      </div>
      <form className="chat-entry" onSubmit={submit}>
        {send.error && <Failed error={send.error} />}
        <div className="row">
          <textarea className="input" rows={2} value={text} placeholder={t('chat.ask')} aria-label={t('chat.ask')} onChange={(event) => setText(event.target.value)} onKeyDown={keys} />
          <button type="submit" className="button primary" disabled={send.isPending || text.trim() === ''}>
            <Icon name="send" />
            {t('chat.send')}
          </button>
        </div>
      </form>
    </section>
  )
}

function Hello({ onPick }: { onPick: (text: string) => void }) {
  const t = useText()
  return (
    <Empty title={t('chat.hello')}>
      <p className="second">{t('chat.hello.what')}</p>
      <div className="stack">
        {(['chat.example.1', 'chat.example.2', 'chat.example.3'] as const).map((key) => (
          <button key={key} type="button" className="button example" onClick={() => onPick(t(key))}>
            {t(key)}
          </button>
        ))}
      </div>
    </Empty>
  )
}
