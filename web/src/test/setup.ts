// What a browser has and jsdom has not, and the network that tests speak with.
import { cleanup, configure } from '@testing-library/react'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { network } from './network'

// A busy machine may take its time; a test that passes never does.
configure({ asyncUtilTimeout: 20_000 })

class Observed {
  observe() {}
  unobserve() {}
  disconnect() {}
}
globalThis.ResizeObserver ??= Observed as unknown as typeof ResizeObserver
window.matchMedia ??= ((media: string) => ({ media, matches: false, addEventListener() {}, removeEventListener() {} })) as unknown as typeof window.matchMedia
Element.prototype.scrollTo ??= () => {}
Element.prototype.scrollIntoView ??= () => {}
HTMLDialogElement.prototype.showModal ??= function showModal(this: HTMLDialogElement) {
  this.open = true
}
HTMLDialogElement.prototype.close ??= function close(this: HTMLDialogElement) {
  this.open = false
}
// Nothing is laid out here; lists that show what is in sight need some size: of themselves, and of a row.
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
