// The text of a message or tool result: Markdown, JSON and quotes.
import { memo, useMemo, useState } from 'react'
import { useText } from '@/shared/i18n'
import { splitQuotes } from './quotes'
import { JsonView, parseJson } from './JsonView'
import { RichText } from './RichText'

/** The visible characters of a folded text. */
const FOLD_LENGTH = 1800

/** A text with its quotes. */
export const MessageText = memo(function MessageText({ text, plain }: { text: string; plain?: boolean }) {
  const t = useText()
  const segments = useMemo(() => splitQuotes(text), [text])
  return (
    <>
      {segments.map((part, index) =>
        part.kind === 'own' ? (
          <TextOrJson key={index} text={part.text} plain={plain ?? false} />
        ) : (
          <figure key={index} className="quoted">
            <figcaption>
              {t('transcript.quoted', { source: part.source })}
              {part.note && <span className="quiet"> {part.note}</span>}
            </figcaption>
            <TextOrJson text={part.text} plain={plain ?? false} />
          </figure>
        ),
      )}
    </>
  )
})

function TextOrJson({ text, plain }: { text: string; plain: boolean }) {
  const json = useMemo(() => parseJson(text), [text])
  return json === undefined ? <FoldedText text={text} plain={plain} /> : <JsonView value={json} />
}

/** A text that is folded if it is long. */
export function FoldedText({ text, plain }: { text: string; plain?: boolean }) {
  const t = useText()
  const [expanded, setExpanded] = useState(false)
  const folded = text.length > FOLD_LENGTH * 1.3 && !expanded
  const visible = folded ? `${text.slice(0, FOLD_LENGTH)} …` : text
  return (
    <>
      {plain ? <pre>{visible}</pre> : <RichText text={visible} />}
      {folded && (
        <button type="button" className="button small plain" onClick={() => setExpanded(true)}>
          {t('transcript.whole', { count: text.length })}
        </button>
      )}
    </>
  )
}
