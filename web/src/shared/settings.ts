// What a reader has chosen, kept by the browser.
import { useSyncExternalStore } from 'react'

export type Language = 'en' | 'zh'
export type Theme = 'auto' | 'light' | 'dark'
/** Which colour a gain has: by the language's habit, green, red, or blue against orange. */
export type PnlColours = 'auto' | 'green-up' | 'red-up' | 'blue-up'

export interface Settings {
  language: Language | 'auto'
  theme: Theme
  pnl: PnlColours
  showActionSummary: boolean
}

const KEY = 'papertape.settings'
const USUAL: Settings = { language: 'auto', theme: 'auto', pnl: 'auto', showActionSummary: true }

const listeners = new Set<() => void>()
let settings = load()

function load(): Settings {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}')
    return { ...USUAL, ...(typeof kept === 'object' ? kept : {}) }
  } catch {
    return USUAL
  }
}

export function changeSettings(part: Partial<Settings>): void {
  settings = { ...settings, ...part }
  try {
    localStorage.setItem(KEY, JSON.stringify(settings))
  } catch {
    // A browser that keeps nothing still shows what was chosen.
  }
  applySettings()
  for (const listener of listeners) listener()
}

export function languageOf(chosen: Settings): Language {
  if (chosen.language !== 'auto') return chosen.language
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

export function isDark(chosen: Settings): boolean {
  if (chosen.theme !== 'auto') return chosen.theme === 'dark'
  return window.matchMedia?.('(prefers-color-scheme: dark)').matches ?? false
}

/** In Chinese markets red is up. */
export function pnlOf(chosen: Settings): Exclude<PnlColours, 'auto'> {
  if (chosen.pnl !== 'auto') return chosen.pnl
  return languageOf(chosen) === 'zh' ? 'red-up' : 'green-up'
}

/** Tells the document what was chosen; styles go by it. */
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

/** Follows the system's theme where nothing else was chosen. */
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
