// Words for the codes of the API. The lists are those of its document: a code without words does not compile.
import { useMemo } from 'react'
import type { Codes } from '@/server/types'
import type { Language } from '../settings'
import { isTextKey, type Translate, useLanguage, useText } from '.'
import { enCodes } from './en.codes'
import { en } from './en'
import { zhCodes } from './zh.codes'

export type CodeList = keyof Codes
/** A sentence for each code of each list. */
export type CodeTexts = { [List in CodeList]: Record<Codes[List], string> }

export const CODES: Record<Language, CodeTexts> = { en: enCodes, zh: zhCodes }

/** Is there such a code in the list? A server may be newer than a page that is open. */
export function isCode(list: CodeList, code: string): boolean {
  return Object.hasOwn(CODES.en[list], code)
}

/** A code in the reader's language, or as it is where we have no words for it. */
export function codeText(language: Language, list: CodeList, code: string): string {
  return isCode(list, code) ? ((CODES[language][list] as Record<string, string>)[code] ?? code) : code
}

export function useCode(): (list: CodeList, code: string) => string {
  const language = useLanguage()
  return useMemo(() => (list, code) => codeText(language, list, code), [language])
}

const small = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '_')
const NODES = new Map(
  Object.keys(en)
    .filter((key) => key.startsWith('node.') && key !== 'node.done' && key !== 'node.waiting' && key !== 'node.silent')
    .map((key) => [small(key.slice(5)), key]),
)
/** The longest first: one may be the end of another. */
const FAILURES = Object.keys(enCodes.node_failure).sort((a, b) => b.length - a.length)

/** A reason code taken apart: `bull_researcher_timeout` is the Bull Researcher's, and its deadline passed. */
export function reasonOf(code: string): { node: string | null; failure: string } | null {
  const failure = FAILURES.find((one) => code === one || code.endsWith(`_${one}`))
  if (failure === undefined) return null
  return { node: NODES.get(code.slice(0, -failure.length - 1)) ?? null, failure }
}

export interface Reasons {
  /** Why a node gave nothing, without its name. */
  why: (code: string) => string
  /** With its name. `otherwise` stands for a code that we have no words for. */
  whole: (code: string, otherwise?: string) => string
}

export function makeReasons(language: Language, t: Translate): Reasons {
  const why = (code: string, otherwise = code) => {
    if (isCode('other_reason', code)) return codeText(language, 'other_reason', code)
    const found = reasonOf(code)
    if (found) return codeText(language, 'node_failure', found.failure)
    return isCode('outcome', code) ? codeText(language, 'outcome', code) : isCode('step_state', code) ? codeText(language, 'step_state', code) : otherwise
  }
  return {
    why: (code) => why(code),
    whole: (code, otherwise) => {
      const node = reasonOf(code)?.node
      const said = why(code, otherwise)
      return node && isTextKey(node) ? t('reason.of', { node: t(node), why: said }) : said
    },
  }
}

export function useReasons(): Reasons {
  const language = useLanguage()
  const t = useText()
  return useMemo(() => makeReasons(language, t), [language, t])
}
