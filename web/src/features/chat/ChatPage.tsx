// Conversations with the assistant.
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { chats } from '@/server/queries'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { useNow } from '@/shared/now'
import { useTitle } from '@/shared/title'
import { Icon } from '@/shared/ui/icons'
import { Operate } from '@/shared/ui/operate'
import { More } from '@/shared/ui/parts'
import { Failed, Loading } from '@/shared/ui/states'
import { Conversation } from './Conversation'
import css from './chat.module.css'

export function ChatPage() {
  const t = useText()
  const navigate = useNavigate({ from: '/app/chat' })
  const search = useSearch({ from: '/app/chat' })
  const selected = search.session ?? null
  useTitle(t('nav.chat'))
  return (
    <div className={css.chat}>
      <h1 className="hidden-label">{t('nav.chat')}</h1>
      <Conversations selected={selected} />
      <Conversation key={selected ?? 'new'} id={selected} onCreated={(session) => void navigate({ search: { session }, replace: true })} />
    </div>
  )
}

function Conversations({ selected }: { selected: string | null }) {
  const t = useText()
  const format = useFormat()
  const now = useNow()
  const query = useInfiniteQuery(chats())
  const all = query.data?.pages.flatMap((page) => page.sessions) ?? []
  return (
    <nav className={css.list} aria-label={t('chat.sessions')}>
      <Operate>
        <Link to="/app/chat" search={{}} className="button">
          <Icon name="plus" />
          {t('chat.new')}
        </Link>
      </Operate>
      {query.isPending && <Loading rows={4} />}
      {query.error && !query.data && <Failed error={query.error} retry={() => void query.refetch()} />}
      {query.data && all.length === 0 && <p className="panel-body quiet">{t('chat.none')}</p>}
      {all.map((one) => (
        <Link key={one.id} to="/app/chat" search={{ session: one.id }} className="list-item plain-link" aria-current={one.id === selected ? 'true' : undefined}>
          <span className="clip">{one.title || t('chat.untitled')}</span>
          <time className="quiet" dateTime={one.updated_at} title={format.instant(one.updated_at)}>
            {format.ago(one.updated_at, now)}
          </time>
        </Link>
      ))}
      <More has={query.hasNextPage} busy={query.isFetchingNextPage} onMore={() => void query.fetchNextPage()} />
    </nav>
  )
}
