import react from '@vitejs/plugin-react'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Where the API answers while the pages are served by Vite. */
const server = process.env.PAPERTAPE_URL ?? 'http://127.0.0.1:8080'
const api = ['simulate', 'jobs', 'plans', 'tasks', 'chat', 'reasoning', 'results', 'live', 'sessions', 'exposures', 'datasets']
const rest = ['compare', 'experiments', 'leaderboard', 'access', 'memory', 'health', 'doctor', 'profiles', 'metrics', 'openapi.json', 'docs']

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    target: 'es2022',
    // The server forbids what is not its own, `data:` scripts and styles among it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Keeps a page to a few files. Each is a request, and browsers open at most six connections over HTTP/1.1.
          groups: [
            { name: 'initial', tags: ['$initial'], priority: 2 },
            { name: 'shared', test: /[\\/](src[\\/](shared|server|transcript|features[\\/]jobLog)|@tanstack)[\\/]/, minShareCount: 2, priority: 1 },
          ],
        },
      },
    },
  },
  server: {
    // A test reads the document of the API, which the server's tests keep.
    fs: { allow: ['.', '../crates/papertape/tests/it/snapshots', '../crates/api/src'] },
    proxy: Object.fromEntries([...api, ...rest].map((name) => [`/${name}`, { target: server }])),
  },
  test: {
    environment: 'jsdom',
    environmentOptions: { jsdom: { url: 'http://127.0.0.1:8080/' } },
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/test/setup.ts'],
    // A test reads the style sheets.
    css: true,
    restoreMocks: true,
    // For what hangs: a busy machine may take its time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
