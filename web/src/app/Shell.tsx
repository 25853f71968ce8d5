// The frame of every view: navigation, server health, keyboard shortcuts.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { health as healthQuery, useRefetchOnReturn, useServerState } from '@/server/health'
import { type TextKey, type Translate, useText } from '@/shared/i18n'
import { changeSettings, followSystemTheme, isDark, languageOf, useSettings } from '@/shared/settings'
import { Icon, type IconName, Logo } from '@/shared/ui/icons'
import { preloadViews } from './lazyView'
import { TouchTitles } from '@/shared/ui/touchTitles'
import { Palette } from './palette/Palette'
import { Keys, useShortcuts } from './shortcuts'

const NAVIGATION: { to: string; icon: IconName; text: TextKey; gap?: boolean }[] = [
  { to: '/app/runs', icon: 'runs', text: 'nav.runs' },
  { to: '/app/compare', icon: 'compare', text: 'nav.compare' },
  { to: '/app/experiments', icon: 'experiments', text: 'nav.experiments' },
  { to: '/app/leaderboard', icon: 'leaderboard', text: 'nav.leaderboard' },
  { to: '/app/memory', icon: 'memory', text: 'nav.memory' },
  { to: '/app/data', icon: 'data', text: 'nav.data' },
  { to: '/app/profiles', icon: 'profiles', text: 'nav.profiles' },
  { to: '/app/chat', icon: 'chat', text: 'nav.chat', gap: true },
  { to: '/app/plans', icon: 'plans', text: 'nav.plans' },
  { to: '/app/settings', icon: 'settings', text: 'nav.settings', gap: true },
]

/** How often to check whether the first view is fetching data, and how many checks in a row must find that it is not. */
const PRELOAD_MS = 250
const PRELOAD_CHECKS = 4

export function Shell() {
  const t = useText()
  const [keysOpen, setKeysOpen] = useState(false)
  const main = useRef<HTMLElement>(null)
  const path = useRouterState({ select: (state) => state.location.pathname })
  const title = titleOf(path, t)
  // Runs before the effects of the view, which may set a more specific title.
  useLayoutEffect(() => {
    document.title = title
  }, [title])
  useShortcuts(() => setKeysOpen(true))
  useEffect(followSystemTheme, [])
  const client = useQueryClient()
  useEffect(() => {
    const idle = window.requestIdleCallback?.bind(window) ?? ((run: () => void) => setTimeout(run, 1000))
    // The data of the first view comes before the other views. One quiet check may be the gap between two of its requests.
    let quiet = 0
    let timer = setTimeout(function preload() {
      quiet = client.isFetching() > 0 ? 0 : quiet + 1
      if (quiet < PRELOAD_CHECKS) timer = setTimeout(preload, PRELOAD_MS)
      else idle(() => void preloadViews())
    }, PRELOAD_MS)
    return () => clearTimeout(timer)
  }, [client])
  // Moves the focus to the new view, so that screen readers read it from the start.
  const first = useRef(true)
  useEffect(() => {
    if (first.current) first.current = false
    else main.current?.focus({ preventScroll: true })
  }, [path])

  return (
    <div className="shell">
      <a className="skip" href="#main">
        {t('nav.skip')}
      </a>
      <nav className="side" aria-label={t('nav.label')}>
        <Link to="/app/runs" className="brand" aria-label="Papertape">
          <Logo />
          <span>Papertape</span>
        </Link>
        <Palette />
        <div className="nav-list">
          {NAVIGATION.map((item) => (
            <NavItem key={item.to} {...item} />
          ))}
        </div>
        <Foot onKeys={() => setKeysOpen(true)} />
      </nav>
      <main className="main" id="main" tabIndex={-1} ref={main}>
        <Banner />
        <Outlet />
      </main>
      <TouchTitles />
      {keysOpen && <Keys onClose={() => setKeysOpen(false)} />}
    </div>
  )
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The title of the view at this address, specific enough to distinguish browser tabs. */
function titleOf(path: string, t: Translate): string {
  const [date, model] = path.split('/').slice(4).map(decoded)
  const view = NAVIGATION.find((item) => path.startsWith(item.to))
  return [date, model, view ? t(view.text) : '', 'Papertape'].filter(Boolean).join(' · ')
}

function NavItem({ to, icon, text, gap }: (typeof NAVIGATION)[number]) {
  const t = useText()
  return (
    <>
      {gap && <div className="nav-gap" />}
      <Link to={to} className="nav-link" activeProps={{ 'aria-current': 'page' }}>
        <Icon name={icon} />
        <span>{t(text)}</span>
      </Link>
    </>
  )
}

/** Notices that apply to every view. */
function Banner() {
  const t = useText()
  const { data } = useQuery(healthQuery())
  const state = useServerState()
  useRefetchOnReturn(state)
  if (state === 'away') {
    return (
      <div className="banner" role="alert">
        {t('state.offline')} {t('state.offline.why')}
      </div>
    )
  }
  if (!data) return null
  return (
    <>
      {data.is_dev_mode && (
        <div className="banner">{data.preserve_dev_data ? t('mode.dev.kept') : t('mode.dev')}</div>
      )}
      {data.status !== 'ok' && (
        <div className="banner" role="alert">
          {t('health.failing')} {data.problems.join(' · ')}
        </div>
      )}
    </>
  )
}

const HEALTH_MARK = { unknown: 'queued', ok: 'completed', failing: 'failed', slow: 'degraded', away: 'failed' } as const

function Foot({ onKeys }: { onKeys: () => void }) {
  const t = useText()
  const { data } = useQuery(healthQuery())
  const state = useServerState()
  const settings = useSettings()
  const dark = isDark(settings)
  const chinese = languageOf(settings) === 'zh'
  const health = state === 'unknown' ? t('state.loading') : t(`health.${state}`)
  return (
    <div className="side-foot">
      <div className="row">
        <button
          type="button"
          className="button plain small"
          aria-label={dark ? t('theme.to.light') : t('theme.to.dark')}
          title={dark ? t('theme.to.light') : t('theme.to.dark')}
          onClick={() => changeSettings({ theme: dark ? 'light' : 'dark' })}
        >
          <Icon name={dark ? 'sun' : 'moon'} />
        </button>
        <button
          type="button"
          className="button plain small"
          lang={chinese ? 'en' : 'zh-CN'}
          onClick={() => changeSettings({ language: chinese ? 'en' : 'zh' })}
        >
          {chinese ? 'English' : '中文'}
        </button>
        <button type="button" className="button plain small" aria-label={t('keys.title')} title={t('keys.title')} onClick={onKeys}>
          <kbd>?</kbd>
        </button>
      </div>
      <div className="health-text row">
        <span className={`status ${HEALTH_MARK[state]}`} title={health} role="status">
          <i />
          <span className="health-label">{health}</span>
        </span>
        {data && <span className="quiet">v{data.version}</span>}
      </div>
    </div>
  )
}
