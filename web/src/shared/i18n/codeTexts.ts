// What a language must provide: a text for each code of the API.
import type { Codes } from '@/server/types'

export type CodeList = keyof Codes
/** A text for each code of each list. */
export type CodeTexts = { [List in CodeList]: Record<Codes[List], string> }
