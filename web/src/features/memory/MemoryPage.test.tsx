import { QueryClientProvider } from '@tanstack/react-query'
import { createMemoryHistory, createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router'
import { render, screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { makeQueryClient } from '@/server/cache'
import { I18nProvider } from '@/shared/i18n'
import { runJob } from '@/test/job'
import { respondWith } from '@/test/network'
import { MemoryPage } from './MemoryPage'

it('names the runs to filter by', async () => {
  respondWith('/jobs', { jobs: [runJob('job-1', { labels: { name: 'Autumn', tags: [] } }), runJob('job-2')], count: 2, next_cursor: null })
  respondWith('/trades', { trades: [], count: 0, next_cursor: null })
  const root = createRootRoute()
  const memory = createRoute({ getParentRoute: () => root, path: '/app/memory', component: MemoryPage })
  const router = createRouter({ routeTree: root.addChildren([memory]), history: createMemoryHistory({ initialEntries: ['/app/memory'] }) })
  await router.load()
  render(
    <QueryClientProvider client={makeQueryClient()}>
      <I18nProvider>
        <RouterProvider router={router as never} />
      </I18nProvider>
    </QueryClientProvider>,
  )
  expect(await screen.findByRole('option', { name: /^Autumn Oct 1.* · job-1$/ })).toBeTruthy()
  expect(screen.getByRole('option', { name: /^AAPL, IBM Oct 1.* · job-2$/ })).toBeTruthy()
})
