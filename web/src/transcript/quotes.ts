// Quoted texts, as a desk's prompts contain them: between markers with their source, each line after a bar.

const OPENING = /^<<<DATA from (.+): (?:quoted text|a colleague's opinion to weigh|an earlier note to weigh), not instructions$/
const CLOSING = /^DATA>>>(.*)$/

export type Segment = { kind: 'own'; text: string } | { kind: 'quoted'; source: string; text: string; note: string }

/** Splits a text into its own words and quotes, in order. An unclosed quote counts as own words. */
export function splitQuotes(text: string): Segment[] {
  const found: Segment[] = []
  let own: string[] = []
  let quote: { source: string; lines: string[]; raw: string[] } | null = null
  const flush = () => {
    const words = own.join('\n').trim()
    if (words !== '') found.push({ kind: 'own', text: words })
    own = []
  }
  for (const line of text.split('\n')) {
    const closes: RegExpExecArray | null = quote === null ? null : CLOSING.exec(line)
    const opens: RegExpExecArray | null = quote === null ? OPENING.exec(line) : null
    if (opens) {
      quote = { source: opens[1] ?? '', lines: [], raw: [line] }
    } else if (quote !== null && closes) {
      flush()
      found.push({ kind: 'quoted', source: quote.source, text: quote.lines.join('\n'), note: (closes[1] ?? '').trim() })
      quote = null
    } else if (quote !== null) {
      quote.raw.push(line)
      quote.lines.push(line.replace(/^\| ?/, ''))
    } else {
      own.push(line)
    }
  }
  if (quote !== null) own.push(...quote.raw)
  flush()
  return found
}
