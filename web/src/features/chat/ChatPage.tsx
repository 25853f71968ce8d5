// Conversations with the assistant, who runs the desk.
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { chats } from '@/server/queries'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { useNow } from '@/shared/now'
import { useTitle } from '@/shared/title'
import { Icon } from '@/shared/ui/icons'
import { More } from '@/shared/ui/parts'
import { Failed, Loading } from '@/shared/ui/states'
import { Conversation } from './Conversation'

export function ChatPage() {
  const t = useText()
  const navigate = useNavigate({ from: '/app/chat' })
  const search = useSearch({ from: '/app/chat' })
  const chosen = search.session ?? null
  useTitle(t('nav.chat'))
  return (
    <div className="chat">
      <h1 className="hidden-label">{t('nav.chat')}</h1>
      <Conversations chosen={chosen} />
      <Conversation key={chosen ?? 'new'} id={chosen} onBegun={(session) => void navigate({ search: { session }, replace: true })} />
    </div>
  )
}

function Conversations({ chosen }: { chosen: string | null }) {
  const t = useText()
  const format = useFormat()
  const now = useNow()
  const found = useInfiniteQuery(chats())
  const all = found.data?.pages.flatMap((page) => page.sessions) ?? []
  return (
    <nav className="chat-list" aria-label={t('chat.sessions')}>
      <Link to="/app/chat" search={{}} className="button">
        <Icon name="plus" />
        {t('chat.new')}
      </Link>
      {found.isPending && <Loading rows={4} />}
      {found.error && !found.data && <Failed error={found.error} retry={() => void found.refetch()} />}
      {found.data && all.length === 0 && <p className="panel-body quiet">{t('chat.none')}</p>}
      {all.map((one) => (
        <Link key={one.id} to="/app/chat" search={{ session: one.id }} className="list-item plain-link" aria-current={one.id === chosen ? 'true' : undefined}>
          <span className="clip">{one.title || t('chat.untitled')}</span>
          <time className="quiet" dateTime={one.updated_at} title={format.instant(one.updated_at)}>
            {format.ago(one.updated_at, now)}
          </time>
        </Link>
      ))}
      <More has={found.hasNextPage} busy={found.isFetchingNextPage} onMore={() => void found.fetchNextPage()} />
    </nav>
  )
}
