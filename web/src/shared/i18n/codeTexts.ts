// The lists of codes in the API, and what a language has to say about them.
import type { Codes } from '@/server/types'

export type CodeList = keyof Codes
/** A text for each code of each list. */
export type CodeTexts = { [List in CodeList]: Record<Codes[List], string> }
