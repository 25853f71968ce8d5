import '@/styles/tokens.css'
import '@/styles/base.css'
import '@/styles/shell.css'
import '@/styles/parts.css'
import '@/styles/charts.css'
import '@/styles/views.css'
import '@/styles/transcript.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { makeRouter } from '@/app/router'
import { makeQueryClient } from '@/server/cache'
import { I18nProvider } from '@/shared/i18n'
import { applySettings } from '@/shared/settings'

applySettings()

const root = document.getElementById('root')
if (!root) throw new Error('#root is missing')
const client = makeQueryClient()
const router = makeRouter(client)
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <I18nProvider>
        <RouterProvider router={router} />
      </I18nProvider>
    </QueryClientProvider>
  </StrictMode>,
)
