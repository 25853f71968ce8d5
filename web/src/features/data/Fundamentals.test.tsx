import { QueryClientProvider } from '@tanstack/react-query'
import { createMemoryHistory, createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router'
import { render, screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { makeQueryClient } from '@/server/cache'
import type { Dataset } from '@/server/types'
import { I18nProvider } from '@/shared/i18n'
import { respondWith } from '@/test/network'
import { Fundamentals } from './Fundamentals'

it('shows periods and publication in the form of all dates', async () => {
  respondWith('/datasets/00ff/fundamentals', { fundamentals: [{ symbol: 'IBM', metric: 'revenue', period_end: '2012-06-30', published_at: '2012-07-18T20:05:00Z', value: 1, unit: 'USD' }], count: 1, next_cursor: null })
  const dataset = { name: 'us', hash: '00ff', zone: 'America/New_York', symbols: ['IBM'], fundamentals: 1 } as Dataset
  const root = createRootRoute()
  const page = createRoute({ getParentRoute: () => root, path: '/app/data', component: () => <Fundamentals dataset={dataset} /> })
  const router = createRouter({ routeTree: root.addChildren([page]), history: createMemoryHistory({ initialEntries: ['/app/data'] }) })
  await router.load()
  render(
    <QueryClientProvider client={makeQueryClient()}>
      <I18nProvider>
        <RouterProvider router={router as never} />
      </I18nProvider>
    </QueryClientProvider>,
  )
  expect(await screen.findByText('Jun 30, 2012')).toBeTruthy()
  expect(screen.getByText('Jul 18, 2012, 16:05 ET')).toBeTruthy()
})
