// Addresses. All views live under /app/, which no route of the API begins with.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect, useRouter } from '@tanstack/react-router'
import { useText } from '@/shared/i18n'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { Shell } from './Shell'

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })

const toRuns = () => {
  throw redirect({ to: '/app/runs', replace: true })
}
const home = createRoute({ getParentRoute: () => root, path: '/', beforeLoad: toRuns })
const app = createRoute({ getParentRoute: () => root, path: '/app', beforeLoad: toRuns })

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

const runs = createRoute({
  getParentRoute: () => root,
  path: '/app/runs',
  validateSearch: (search): { new?: boolean } => (search.new ? { new: true } : {}),
  component: lazyRouteComponent(() => import('@/features/runs/RunsPage'), 'RunsPage'),
})
const run = createRoute({
  getParentRoute: () => root,
  path: '/app/runs/$jobId',
  validateSearch: (search): { tab?: string; branch?: boolean; agent?: string; date?: string; node?: string } => ({
    tab: text(search.tab),
    branch: search.branch ? true : undefined,
    agent: text(search.agent),
    date: text(search.date),
    node: text(search.node),
  }),
  component: lazyRouteComponent(() => import('@/features/run/RunPage'), 'RunPage'),
})
const session = createRoute({
  getParentRoute: () => root,
  path: '/app/runs/$jobId/$date/$model',
  validateSearch: (search): { symbol?: string; node?: string; view?: string; order?: string; at?: string; item?: string } => ({
    symbol: text(search.symbol),
    node: text(search.node),
    view: text(search.view),
    order: search.order === undefined ? undefined : String(search.order),
    at: search.at === undefined ? undefined : String(search.at),
    item: text(search.item),
  }),
  component: lazyRouteComponent(() => import('@/features/session/SessionPage'), 'SessionPage'),
})
// A session by its number alone leads to its own address.
const numbered = createRoute({
  getParentRoute: () => root,
  path: '/app/sessions/$sessionId',
  component: lazyRouteComponent(() => import('@/features/session/NumberedSession'), 'NumberedSession'),
})
const memory = createRoute({
  getParentRoute: () => root,
  path: '/app/memory',
  validateSearch: (search): { tab?: string; query?: string; symbol?: string; side?: string; tag?: string; model?: string; job?: string; id?: string } => ({
    tab: text(search.tab),
    query: text(search.query),
    symbol: text(search.symbol),
    side: text(search.side),
    tag: text(search.tag),
    model: text(search.model),
    job: text(search.job),
    id: search.id === undefined ? undefined : String(search.id),
  }),
  component: lazyRouteComponent(() => import('@/features/memory/MemoryPage'), 'MemoryPage'),
})
const data = createRoute({
  getParentRoute: () => root,
  path: '/app/data',
  validateSearch: (search): { dataset?: string; symbol?: string; tab?: string; day?: string; from?: string; to?: string; item?: string; series?: string } => ({
    dataset: text(search.dataset),
    symbol: text(search.symbol),
    tab: text(search.tab),
    day: text(search.day),
    from: text(search.from),
    to: text(search.to),
    item: search.item === undefined ? undefined : String(search.item),
    series: text(search.series),
  }),
  component: lazyRouteComponent(() => import('@/features/data/DataPage'), 'DataPage'),
})
const profiles = createRoute({
  getParentRoute: () => root,
  path: '/app/profiles',
  validateSearch: (search): { a?: string; b?: string; vary?: string } => ({ a: text(search.a), b: text(search.b), vary: text(search.vary) }),
  component: lazyRouteComponent(() => import('@/features/profiles/ProfilesPage'), 'ProfilesPage'),
})
const chat = createRoute({
  getParentRoute: () => root,
  path: '/app/chat',
  validateSearch: (search): { session?: string } => ({ session: text(search.session) }),
  component: lazyRouteComponent(() => import('@/features/chat/ChatPage'), 'ChatPage'),
})
const plans = createRoute({
  getParentRoute: () => root,
  path: '/app/plans',
  validateSearch: (search): { plan?: number; job?: string } => ({
    plan: Number(search.plan) > 0 ? Number(search.plan) : undefined,
    job: text(search.job),
  }),
  component: lazyRouteComponent(() => import('@/features/plans/PlansPage'), 'PlansPage'),
})
const settings = createRoute({
  getParentRoute: () => root,
  path: '/app/settings',
  component: lazyRouteComponent(() => import('@/features/settings/SettingsPage'), 'SettingsPage'),
})

const tree = root.addChildren([home, app, runs, run, session, numbered, memory, data, profiles, chat, plans, settings])

export function makeRouter() {
  return createRouter({
    routeTree: tree,
    defaultPreload: 'intent',
    defaultPendingComponent: Pending,
    defaultErrorComponent: Broken,
    scrollRestoration: true,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>
  }
}

function Pending() {
  return (
    <div className="page">
      <Loading />
    </div>
  )
}

function Broken({ error }: { error: unknown }) {
  const router = useRouter()
  return (
    <div className="page">
      <Failed error={error} retry={() => void router.invalidate()} />
    </div>
  )
}

function NotFound() {
  const t = useText()
  return (
    <div className="page">
      <Empty title={t('state.nowhere')}>
        <a href="/app/runs">{t('nav.runs')}</a>
      </Empty>
    </div>
  )
}
