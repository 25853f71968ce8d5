// Renders components with the application's providers.
import { QueryClientProvider } from '@tanstack/react-query'
import { createMemoryHistory, createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router'
import { render } from '@testing-library/react'
import type { ReactNode } from 'react'
import { makeQueryClient } from '@/server/cache'
import { I18nProvider } from '@/shared/i18n'

/** Renders one component. Links to other views render nothing. */
export async function show(node: ReactNode) {
  const root = createRootRoute()
  const home = createRoute({ getParentRoute: () => root, path: '/', component: () => <>{node}</> })
  const rest = createRoute({ getParentRoute: () => root, path: '/app/$', component: () => null })
  const router = createRouter({ routeTree: root.addChildren([home, rest]), history: createMemoryHistory({ initialEntries: ['/'] }) })
  await router.load()
  const client = makeQueryClient()
  client.setDefaultOptions({ queries: { ...client.getDefaultOptions().queries, retry: false } })
  return render(
    <QueryClientProvider client={client}>
      <I18nProvider>
        <RouterProvider router={router as never} />
      </I18nProvider>
    </QueryClientProvider>,
  )
}
