// Browser features that jsdom lacks, and the mock network.
import { cleanup, configure } from '@testing-library/react'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { network } from './network'

// Allow for a busy machine. A passing test is far faster.
configure({ asyncUtilTimeout: 20_000 })

class NoopResizeObserver {
  observe() {}
  unobserve() {}
  disconnect() {}
}
globalThis.ResizeObserver ??= NoopResizeObserver as unknown as typeof ResizeObserver
window.matchMedia ??= ((media: string) => ({ media, matches: false, addEventListener() {}, removeEventListener() {} })) as unknown as typeof window.matchMedia
Element.prototype.scrollTo ??= () => {}
Element.prototype.scrollIntoView ??= () => {}
HTMLDialogElement.prototype.showModal ??= function showModal(this: HTMLDialogElement) {
  this.open = true
}
HTMLDialogElement.prototype.close ??= function close(this: HTMLDialogElement) {
  this.open = false
}
// jsdom has no layout. Virtualized lists need a size for themselves and for a row.
for (const name of ['clientHeight', 'offsetHeight']) {
  Object.defineProperty(HTMLElement.prototype, name, {
    configurable: true,
    get(this: HTMLElement) {
      return this.dataset.index === undefined ? 600 : 30
    },
  })
}
for (const name of ['clientWidth', 'offsetWidth']) {
  Object.defineProperty(HTMLElement.prototype, name, { configurable: true, get: () => 900 })
}

beforeAll(() => network.listen({ onUnhandledRequest: 'error' }))
afterEach(() => {
  cleanup()
  network.resetHandlers()
  localStorage.clear()
})
afterAll(() => network.close())
