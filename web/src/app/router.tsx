// Routes. All views are under /app/, which no API route uses.
import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, createRouter, Link, redirect } from '@tanstack/react-router'
import type { CompareSearch } from '@/features/compare/select'
import { parseRunSearch } from '@/features/run/search'
import { parseRunsSearch, queryOf } from '@/features/runs/address'
import { curves, hasClosed, job, jobResults } from '@/server/queries'
import type { Curves } from '@/server/types'
import { runList } from '@/server/runList'
import { useText } from '@/shared/i18n'
import { Empty, Loading } from '@/shared/ui/states'
import { lazyRouteComponent } from './lazyView'
import { RouteError } from './RouteError'
import { Shell } from './Shell'

const root = createRootRouteWithContext<{ client: QueryClient }>()({ component: Shell, notFoundComponent: NotFound })

const toRuns = () => {
  throw redirect({ to: '/app/runs', replace: true })
}
const home = createRoute({ getParentRoute: () => root, path: '/', beforeLoad: toRuns })
const app = createRoute({ getParentRoute: () => root, path: '/app', beforeLoad: toRuns })

const nonEmpty = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

const runs = createRoute({
  getParentRoute: () => root,
  path: '/app/runs',
  validateSearch: parseRunsSearch,
  loaderDeps: ({ search }) => queryOf(search),
  // Its data and its code are fetched at the same time. Nothing waits for either here.
  loader: ({ context: { client }, deps }) => {
    const query = runList(deps)
    if (client.getQueryData(query.queryKey) === undefined) void client.prefetchInfiniteQuery(query)
  },
  component: lazyRouteComponent(() => import('@/features/runs/RunsPage'), 'RunsPage'),
})
const run = createRoute({
  getParentRoute: () => root,
  path: '/app/runs/$jobId',
  validateSearch: parseRunSearch,
  loaderDeps: ({ search: { tab, benchmark } }) => ({ tab, benchmark }),
  // Its data and its code are fetched at the same time. Nothing waits for either here.
  loader: ({ context: { client }, params: { jobId }, deps: { tab, benchmark } }) => {
    const head = job(jobId)
    if (client.getQueryData(head.queryKey) === undefined) void client.prefetchQuery(head)
    const lines = client.ensureQueryData(curves(jobId))
    // The metrics are computed while the curves are drawn. The page itself reports what fails.
    const prefetchResults = (found: Curves) => (tab === undefined && hasClosed(found) ? client.prefetchQuery(jobResults(jobId, benchmark)) : undefined)
    void lines.then(prefetchResults, () => undefined)
  },
  component: lazyRouteComponent(() => import('@/features/run/RunPage'), 'RunPage'),
})
const sessionSearch = (search: Record<string, unknown>): { symbol?: string; node?: string; view?: string; order?: string; at?: string; item?: string } => ({
  symbol: nonEmpty(search.symbol),
  node: nonEmpty(search.node),
  view: nonEmpty(search.view),
  order: search.order === undefined ? undefined : String(search.order),
  at: search.at === undefined ? undefined : String(search.at),
  item: nonEmpty(search.item),
})
const session = createRoute({
  getParentRoute: () => root,
  path: '/app/runs/$jobId/$date/$model',
  validateSearch: sessionSearch,
  component: lazyRouteComponent(() => import('@/features/session/SessionPage'), 'SessionPage'),
})
// A session number redirects to the session's full address.
const numbered = createRoute({
  getParentRoute: () => root,
  path: '/app/sessions/$sessionId',
  validateSearch: sessionSearch,
  component: lazyRouteComponent(() => import('@/features/session/NumberedSession'), 'NumberedSession'),
})
const memory = createRoute({
  getParentRoute: () => root,
  path: '/app/memory',
  validateSearch: (search): { tab?: string; query?: string; symbol?: string; side?: string; tag?: string; model?: string; job?: string; id?: string } => ({
    tab: nonEmpty(search.tab),
    query: nonEmpty(search.query),
    symbol: nonEmpty(search.symbol),
    side: nonEmpty(search.side),
    tag: nonEmpty(search.tag),
    model: nonEmpty(search.model),
    job: nonEmpty(search.job),
    id: search.id === undefined ? undefined : String(search.id),
  }),
  component: lazyRouteComponent(() => import('@/features/memory/MemoryPage'), 'MemoryPage'),
})
const data = createRoute({
  getParentRoute: () => root,
  path: '/app/data',
  validateSearch: (search): { dataset?: string; symbol?: string; tab?: string; day?: string; from?: string; to?: string; item?: string; series?: string } => ({
    dataset: nonEmpty(search.dataset),
    symbol: nonEmpty(search.symbol),
    tab: nonEmpty(search.tab),
    day: nonEmpty(search.day),
    from: nonEmpty(search.from),
    to: nonEmpty(search.to),
    item: search.item === undefined ? undefined : String(search.item),
    series: nonEmpty(search.series),
  }),
  component: lazyRouteComponent(() => import('@/features/data/DataPage'), 'DataPage'),
})
const profiles = createRoute({
  getParentRoute: () => root,
  path: '/app/profiles',
  validateSearch: (search): { a?: string; b?: string; vary?: string } => ({ a: nonEmpty(search.a), b: nonEmpty(search.b), vary: nonEmpty(search.vary) }),
  component: lazyRouteComponent(() => import('@/features/profiles/ProfilesPage'), 'ProfilesPage'),
})
const compare = createRoute({
  getParentRoute: () => root,
  path: '/app/compare',
  validateSearch: (search): CompareSearch => ({
    select: nonEmpty(search.select),
    against: nonEmpty(search.against),
    vary: nonEmpty(search.vary),
    points: Number(search.points) > 0 ? Number(search.points) : undefined,
    pair: Number(search.pair) > 0 ? Number(search.pair) : undefined,
    day: nonEmpty(search.day),
  }),
  component: lazyRouteComponent(() => import('@/features/compare/ComparePage'), 'ComparePage'),
})
const experiments = createRoute({
  getParentRoute: () => root,
  path: '/app/experiments',
  component: lazyRouteComponent(() => import('@/features/experiments/ExperimentsPage'), 'ExperimentsPage'),
})
const experiment = createRoute({
  getParentRoute: () => root,
  path: '/app/experiments/$experimentId',
  component: lazyRouteComponent(() => import('@/features/experiments/ExperimentPage'), 'ExperimentPage'),
})
const leaderboard = createRoute({
  getParentRoute: () => root,
  path: '/app/leaderboard',
  validateSearch: (search): { board?: string | undefined; model?: string | undefined } => ({ board: nonEmpty(search.board), model: nonEmpty(search.model) }),
  component: lazyRouteComponent(() => import('@/features/leaderboard/LeaderboardPage'), 'LeaderboardPage'),
})
const chat = createRoute({
  getParentRoute: () => root,
  path: '/app/chat',
  validateSearch: (search): { session?: string } => ({ session: nonEmpty(search.session) }),
  component: lazyRouteComponent(() => import('@/features/chat/ChatPage'), 'ChatPage'),
})
const plans = createRoute({
  getParentRoute: () => root,
  path: '/app/plans',
  validateSearch: (search): { plan?: number; job?: string } => ({
    plan: Number(search.plan) > 0 ? Number(search.plan) : undefined,
    job: nonEmpty(search.job),
  }),
  component: lazyRouteComponent(() => import('@/features/plans/PlansPage'), 'PlansPage'),
})
const settings = createRoute({
  getParentRoute: () => root,
  path: '/app/settings',
  component: lazyRouteComponent(() => import('@/features/settings/SettingsPage'), 'SettingsPage'),
})

const tree = root.addChildren([home, app, runs, run, session, numbered, memory, data, profiles, compare, experiments, experiment, leaderboard, chat, plans, settings])

export function makeRouter(client: QueryClient) {
  return createRouter({
    context: { client },
    routeTree: tree,
    defaultPreload: 'intent',
    defaultPendingComponent: Pending,
    defaultErrorComponent: RouteError,
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

function NotFound() {
  const t = useText()
  return (
    <div className="page">
      <Empty title={t('state.nowhere')} isPage>
        <Link to="/app/runs">{t('nav.runs')}</Link>
      </Empty>
    </div>
  )
}
