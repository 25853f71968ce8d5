// English and Chinese. A key is a key of the English texts, so that a missing one does not compile.
import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { type Language, languageOf, useSettings } from '../settings'
import { en } from './en'
import { zh } from './zh'

export type TextKey = keyof typeof en
export type Values = Record<string, string | number>
export type Translate = (key: TextKey, values?: Values) => string

const TEXTS: Record<Language, Record<TextKey, string>> = { en, zh }

const NUMBERS = { en: new Intl.NumberFormat('en-GB'), zh: new Intl.NumberFormat('zh-CN') }

/** The text with its `{values}` put in, numbers as the language writes them; `{count:day|days}` goes by the count. */
export function translate(language: Language, key: TextKey, values: Values = {}): string {
  const show = (value: string | number) => (typeof value === 'number' ? NUMBERS[language].format(value) : value)
  return TEXTS[language][key].replace(/\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g, (whole, name: string, one?: string, many?: string) => {
    const value = values[name]
    if (value === undefined) return whole
    if (one === undefined) return show(value)
    return (value === 1 ? one : many) ?? ''
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

/** Is there a text of this name? Words of the API have one where people read them. */
export function isTextKey(key: string): key is TextKey {
  return key in en
}

/** A word of the API in the reader's language, or as it is where we have none for it. */
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
