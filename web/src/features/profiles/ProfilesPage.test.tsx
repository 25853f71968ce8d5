// Goal: the phases of a desk are those that the server lists, in its order.
import { QueryClientProvider } from '@tanstack/react-query'
import { createMemoryHistory, createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router'
import { render, screen, within } from '@testing-library/react'
import { expect, it } from 'vitest'
import { makeQueryClient } from '@/server/cache'
import { I18nProvider } from '@/shared/i18n'
import { runJob } from '@/test/job'
import { respondWith } from '@/test/network'
import { NODES } from '@/test/nodes'
import { ProfilesPage } from './ProfilesPage'

const cohort = (label: string) => ({
  label, run_count: 1, ok_count: 1, error_count: 0, degraded_run_count: 0, error_rate: 0, degraded_rate: 0, median_total_elapsed_ms: 3000, iqr_total_elapsed_ms: null,
  median_phase_elapsed_ms: { analyst: 1000, compliance: 2000 }, iqr_phase_elapsed_ms: {}, median_final_history_len: 4,
})

it('shows the phases of the server', async () => {
  const compliance = { name: 'Compliance', phase: 'compliance', order: 6, llm: 'quick', decides: false }
  const desk = { name: 'desk', kind: 'desk' as const, model: 'house::momentum', is_llm: false }
  const { simulation } = runJob('job-1')
  respondWith('/jobs', { jobs: [runJob('job-1', { labels: { name: 'Autumn', tags: [] }, simulation: simulation && { ...simulation, agents: [desk] } })], count: 1, next_cursor: null })
  respondWith('/simulate/options', { nodes: NODES.flatMap((node) => (node.name === 'Trader' ? [compliance, node] : [node])) })
  respondWith('/profiles/compare', {
    label_a: 'A', label_b: 'B', cohorts: { A: cohort('A'), B: cohort('B') }, differences: [], flags: [],
    comparison: { faster_label: null, lower_degradation_label: null, lower_error_rate_label: null, recommended_label: null, why: 'Equal' },
  })
  const root = createRootRoute()
  const profiles = createRoute({ getParentRoute: () => root, path: '/app/profiles', component: ProfilesPage })
  const rest = createRoute({ getParentRoute: () => root, path: '/app/$', component: () => null })
  const router = createRouter({ routeTree: root.addChildren([profiles, rest]), history: createMemoryHistory({ initialEntries: ['/app/profiles?a=job-1&b=job-2'] }) })
  await router.load()
  render(
    <QueryClientProvider client={makeQueryClient()}>
      <I18nProvider>
        <RouterProvider router={router as never} />
      </I18nProvider>
    </QueryClientProvider>,
  )
  const rows = within(await screen.findByRole('table')).getAllByRole('row')
  const names = rows.slice(6, -1).map((row) => within(row).getAllByRole('cell')[0]?.textContent)
  expect(names).toEqual(['Analysts', 'Research', 'compliance', 'Trading', 'Risk', 'Portfolio'])
  expect(screen.getAllByText('2 s').length).toBe(2)
  expect(screen.getByRole('link', { name: /Autumn/ }).getAttribute('href')).toBe('/app/runs/job-1')
})
