// English and Chinese texts. Keys are those of the English table, so a missing key does not compile.
import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { type Language, languageOf, useSettings } from '../settings'
import { en } from './en'
import { zh } from './zh'

export type TextKey = keyof typeof en
export type Values = Record<string, string | number>
export type Translate = (key: TextKey, values?: Values) => string

const TEXTS: Record<Language, Record<TextKey, string>> = { en, zh }

/** The locale of numbers, money and dates. */
export const LOCALES: Record<Language, string> = { en: 'en-US', zh: 'zh-CN' }

const NUMBERS = { en: new Intl.NumberFormat(LOCALES.en), zh: new Intl.NumberFormat(LOCALES.zh) }

/** The text with its `{placeholders}` filled. Numbers use the locale; `{count:day|days}` chooses singular or plural. */
export function translate(language: Language, key: TextKey, values: Values = {}): string {
  return fill(language, TEXTS[language][key], values)
}

/** A text with its placeholders filled, as `translate` does. */
export function fill(language: Language, text: string, values: Values = {}): string {
  const display = (value: string | number) => (typeof value === 'number' ? NUMBERS[language].format(value) : value)
  return text.replace(/\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g, (placeholder, name: string, singular?: string, plural?: string) => {
    const value = values[name]
    if (value === undefined) return placeholder
    if (singular === undefined) return display(value)
    return (value === 1 ? singular : plural) ?? ''
  })
}

const Context = createContext<Language>('en')

export function I18nProvider({ children }: { children: ReactNode }) {
  const language = languageOf(useSettings())
  return <Context.Provider value={language}>{children}</Context.Provider>
}

export function useLanguage(): Language {
  return useContext(Context)
}

export function useText(): Translate {
  const language = useLanguage()
  return useMemo(() => (key, values) => translate(language, key, values), [language])
}

/** Whether the key exists. API values that are displayed have a key. */
export function isTextKey(key: string): key is TextKey {
  return key in en
}

/** The text of a key that contains an API value; the fallback if there is no text for it. */
export function textOr(t: Translate, key: string, fallback: string): string {
  return isTextKey(key) ? t(key) : fallback
}

/** An API value in the current language; unchanged if there is no text for it. */
export function useWord(): (group: 'status' | 'market' | 'memory' | 'role' | 'side' | 'cause' | 'decision' | 'node' | 'kind' | 'value' | 'source' | 'tag' | 'look' | 'provenance', word: string) => string {
  const t = useText()
  return useMemo(
    () => (group, word) => {
      const key = `${group}.${word}`
      return isTextKey(key) ? t(key) : word
    },
    [t],
  )
}
