// The palette's entries, from what the cache has or can fetch cheaply.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { experiments } from '@/server/judging'
import { chats, jobs, options, plans } from '@/server/queries'
import type { Job } from '@/server/types'
import { useCanOperate } from '@/shared/access'
import { useFormat } from '@/shared/format'
import { type TextKey, useText } from '@/shared/i18n'
import { changeSettings, isDark, languageOf, useSettings } from '@/shared/settings'
import { chatEntries, type Entry, experimentEntries, planEntries, runActions, runEntries, sessionEntries, symbolEntries } from './entries'

const VIEWS: [string, TextKey][] = [
  ['/app/runs', 'nav.runs'],
  ['/app/compare', 'nav.compare'],
  ['/app/experiments', 'nav.experiments'],
  ['/app/leaderboard', 'nav.leaderboard'],
  ['/app/memory', 'nav.memory'],
  ['/app/data', 'nav.data'],
  ['/app/profiles', 'nav.profiles'],
  ['/app/chat', 'nav.chat'],
  ['/app/plans', 'nav.plans'],
  ['/app/settings', 'nav.settings'],
]

/** The entries that match the query, and the loaded runs. */
export function useEntries(query: string): { entries: Entry[]; jobs: Job[] } {
  const t = useText()
  const format = useFormat()
  const settings = useSettings()
  const canOperate = useCanOperate()
  const runs = useInfiniteQuery(jobs({ kind: 'simulate' })).data
  const planned = useInfiniteQuery(experiments()).data
  const allPlans = useInfiniteQuery(plans()).data
  const allChats = useInfiniteQuery(chats()).data
  const offered = useQuery(options()).data
  const known = useMemo(() => {
    const found = runs?.pages.flatMap((page) => page.jobs) ?? []
    return {
      jobs: found,
      entries: [
        ...runEntries(found, format, t),
        ...experimentEntries(planned?.pages.flatMap((page) => page.experiments) ?? [], format),
        ...symbolEntries(offered, t),
        ...planEntries(allPlans?.pages.flatMap((page) => page.plans) ?? [], t),
        ...chatEntries(allChats?.pages.flatMap((page) => page.sessions) ?? [], t),
        ...runActions(found, canOperate, t),
        ...VIEWS.map(([to, text]): Entry => ({ id: to, group: 'views', title: t(text), to })),
      ],
    }
  }, [runs, planned, allPlans, allChats, offered, canOperate, format, t])
  const dark = isDark(settings)
  const chinese = languageOf(settings) === 'zh'
  const actions: Entry[] = [
    ...(canOperate ? [{ id: 'new run', group: 'actions', title: t('runs.new'), to: '/app/runs?new=true' } satisfies Entry] : []),
    { id: 'compare', group: 'actions', title: t('palette.compare.open'), to: '/app/compare' },
    { id: 'theme', group: 'actions', title: dark ? t('theme.to.light') : t('theme.to.dark'), run: () => changeSettings({ theme: dark ? 'light' : 'dark' }) },
    { id: 'language', group: 'actions', title: t('palette.language'), run: () => changeSettings({ language: chinese ? 'en' : 'zh' }) },
  ]
  return { entries: [...sessionEntries(known.jobs, query, format, t), ...actions, ...known.entries], jobs: known.jobs }
}
