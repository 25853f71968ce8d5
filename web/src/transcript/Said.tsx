// What was said, or answered: words, JSON, and what is quoted in it.
import { memo, useMemo, useState } from 'react'
import { useText } from '@/shared/i18n'
import { parts } from './fences'
import { JsonView, parseJson } from './JsonView'
import { RichText } from './RichText'

/** Characters of a text that are shown before it folds. */
const LONG = 1800

/** A text with all that it may hold. */
export const Said = memo(function Said({ text, plain }: { text: string; plain?: boolean }) {
  const t = useText()
  const said = useMemo(() => parts(text), [text])
  return (
    <>
      {said.map((part, index) =>
        part.kind === 'own' ? (
          <Words key={index} text={part.text} plain={plain ?? false} />
        ) : (
          <figure key={index} className="quoted">
            <figcaption>
              {t('transcript.quoted', { source: part.source })}
              {part.note && <span className="quiet"> {part.note}</span>}
            </figcaption>
            <Words text={part.text} plain={plain ?? false} />
          </figure>
        ),
      )}
    </>
  )
})

function Words({ text, plain }: { text: string; plain: boolean }) {
  const json = useMemo(() => parseJson(text), [text])
  return json === undefined ? <Folding text={text} plain={plain} /> : <JsonView value={json} />
}

/** A text that folds where it is long. */
export function Folding({ text, plain }: { text: string; plain?: boolean }) {
  const t = useText()
  const [whole, setWhole] = useState(false)
  const folds = text.length > LONG * 1.3 && !whole
  const shown = folds ? `${text.slice(0, LONG)} …` : text
  return (
    <>
      {plain ? <pre>{shown}</pre> : <RichText text={shown} />}
      {folds && (
        <button type="button" className="button small plain" onClick={() => setWhole(true)}>
          {t('transcript.whole', { count: text.length })}
        </button>
      )}
    </>
  )
}
