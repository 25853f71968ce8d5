// The user's settings, stored in the browser.
import { useSyncExternalStore } from 'react'

export type Language = 'en' | 'zh'
export type Theme = 'auto' | 'light' | 'dark'
/** The color of a gain: by the language's convention, green, red, or blue (losses orange). */
export type PnlColors = 'auto' | 'green-up' | 'red-up' | 'blue-up'

export interface Settings {
  language: Language | 'auto'
  theme: Theme
  pnl: PnlColors
  showActionSummary: boolean
  /** The columns of the list of runs; absent: the first choice. */
  runColumns?: string[]
}

const KEY = 'papertape.settings'
const DEFAULTS: Settings = { language: 'auto', theme: 'auto', pnl: 'auto', showActionSummary: true }

const listeners = new Set<() => void>()
let settings = load()

function load(): Settings {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}')
    return { ...DEFAULTS, ...(typeof stored === 'object' ? stored : {}) }
  } catch {
    return DEFAULTS
  }
}

export function changeSettings(part: Partial<Settings>): void {
  settings = { ...settings, ...part }
  try {
    localStorage.setItem(KEY, JSON.stringify(settings))
  } catch {
    // Without storage, the settings apply until the page is closed.
  }
  applySettings()
  for (const listener of listeners) listener()
}

export function languageOf(selected: Settings): Language {
  if (selected.language !== 'auto') return selected.language
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

export function isDark(selected: Settings): boolean {
  if (selected.theme !== 'auto') return selected.theme === 'dark'
  return window.matchMedia?.('(prefers-color-scheme: dark)').matches ?? false
}

/** In Chinese markets, red means up. */
export function pnlOf(selected: Settings): Exclude<PnlColors, 'auto'> {
  if (selected.pnl !== 'auto') return selected.pnl
  return languageOf(selected) === 'zh' ? 'red-up' : 'green-up'
}

/** Sets the document's attributes, which the styles depend on. */
export function applySettings(): void {
  const root = document.documentElement
  root.dataset.theme = isDark(settings) ? 'dark' : 'light'
  root.dataset.pnl = pnlOf(settings)
  root.lang = languageOf(settings) === 'zh' ? 'zh-CN' : 'en'
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useSettings(): Settings {
  return useSyncExternalStore(subscribe, () => settings)
}

/** Follows the system's theme unless the user chose one. */
export function followSystemTheme(): () => void {
  const query = window.matchMedia?.('(prefers-color-scheme: dark)')
  const changed = () => {
    settings = { ...settings }
    applySettings()
    for (const listener of listeners) listener()
  }
  query?.addEventListener('change', changed)
  return () => query?.removeEventListener('change', changed)
}
