// Texts for the codes of the API. The lists come from the OpenAPI document: a code without a text does not compile.
import { useMemo } from 'react'
import type { Language } from '../settings'
import { isTextKey, type Translate, useLanguage, useText } from '.'
import type { CodeList, CodeTexts } from './codeTexts'
import { enCodes } from './en.codes'
import { en } from './en'
import { zhCodes } from './zh.codes'

export const CODES: Record<Language, CodeTexts> = { en: enCodes, zh: zhCodes }

/** Whether the list contains the code. The server may be newer than an open page. */
export function isCode(list: CodeList, code: string): boolean {
  return Object.hasOwn(CODES.en[list], code)
}

/** A code in the current language; unchanged if there is no text for it. */
export function codeText(language: Language, list: CodeList, code: string): string {
  return isCode(list, code) ? ((CODES[language][list] as Record<string, string>)[code] ?? code) : code
}

export function useCode(): (list: CodeList, code: string) => string {
  const language = useLanguage()
  return useMemo(() => (list, code) => codeText(language, list, code), [language])
}

const snakeCase = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '_')
const NODES = new Map(
  Object.keys(en)
    .filter((key) => key.startsWith('node.') && key !== 'node.done' && key !== 'node.waiting' && key !== 'node.silent')
    .map((key) => [snakeCase(key.slice(5)), key]),
)
/** Longest first, because one code may be a suffix of another. */
const FAILURES = Object.keys(enCodes.node_failure).sort((a, b) => b.length - a.length)

/** Splits a reason code: `bull_researcher_timeout` is a timeout of the Bull Researcher. */
export function reasonOf(code: string): { node: string | null; failure: string } | null {
  const failure = FAILURES.find((suffix) => code === suffix || code.endsWith(`_${suffix}`))
  if (failure === undefined) return null
  return { node: NODES.get(code.slice(0, -failure.length - 1)) ?? null, failure }
}

export interface Reasons {
  /** Why a node produced no result, without the node's name. */
  why: (code: string) => string
  /** With the node's name. `fallback` is used for a code without a text. */
  full: (code: string, fallback?: string) => string
}

export function makeReasons(language: Language, t: Translate): Reasons {
  const why = (code: string, fallback = code) => {
    if (isCode('other_reason', code)) return codeText(language, 'other_reason', code)
    const found = reasonOf(code)
    if (found) return codeText(language, 'node_failure', found.failure)
    return isCode('outcome', code) ? codeText(language, 'outcome', code) : isCode('step_state', code) ? codeText(language, 'step_state', code) : fallback
  }
  return {
    why: (code) => why(code),
    full: (code, fallback) => {
      const node = reasonOf(code)?.node
      const text = why(code, fallback)
      return node && isTextKey(node) ? t('reason.of', { node: t(node), why: text }) : text
    },
  }
}

export function useReasons(): Reasons {
  const language = useLanguage()
  const t = useText()
  return useMemo(() => makeReasons(language, t), [language, t])
}
