// A reader's score and note on the session.
import { type FormEvent, useState } from 'react'
import { useReview } from '@/server/reviews'
import type { Review, Session } from '@/server/types'
import { useCanOperate } from '@/shared/access'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { Tag } from '@/shared/ui/parts'
import css from './session.module.css'

const SCORES = [1, 2, 3, 4, 5]
const MAX_NOTE_CHARS = 10_000

export function ReviewPanel({ session }: { session: Session }) {
  const t = useText()
  const canOperate = useCanOperate()
  const { review } = session
  const hasReview = review.score != null || review.note != null
  if (!canOperate && !hasReview) return null
  return (
    <section className="panel" aria-label={t('review.title')}>
      <div className="panel-head">
        <h2>{t('review.title')}</h2>
        <span className="quiet grow">{canOperate && t('review.what')}</span>
        <Written review={review} />
      </div>
      {canOperate ? <Form session={session} /> : <ReviewText review={review} />}
    </section>
  )
}

function Written({ review: { updated_at: at, updated_by: by } }: { review: Review }) {
  const t = useText()
  const format = useFormat()
  if (at == null) return null
  return <span className="quiet tnum">{by == null ? format.instant(at) : t('review.by', { at: format.instant(at), name: by })}</span>
}

function ReviewText({ review }: { review: Review }) {
  const t = useText()
  return (
    <div className={`panel-body ${css.review}`}>
      {review.score != null && <Tag>{t('review.of', { score: review.score })}</Tag>}
      {review.note != null && <p className={css.note}>{review.note}</p>}
    </div>
  )
}

function Form({ session }: { session: Session }) {
  const t = useText()
  const [score, setScore] = useState(session.review.score ?? null)
  const [note, setNote] = useState(session.review.note ?? '')
  const write = useReview(session)
  const review = write.data?.review ?? session.review
  const patch = {
    // What was not edited is not sent, so that it does not undo someone else's change.
    ...(score !== (review.score ?? null) && { score }),
    ...(note !== (review.note ?? '') && { note }),
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (Object.keys(patch).length === 0 || write.isPending) return
    write.mutate(patch, {
      // The server may have shortened or redacted the note.
      onSuccess: ({ review }) => {
        setScore(review.score ?? null)
        setNote(review.note ?? '')
      },
    })
  }
  return (
    <form className={`panel-body ${css.review}`} aria-label={t('review.title')} onSubmit={submit}>
      <fieldset className={css.scores}>
        <legend>{t('review.score')}</legend>
        {[null, ...SCORES].map((value) => (
          <label key={value ?? 'none'}>
            <input type="radio" name="score" checked={score === value} onChange={() => setScore(value)} />
            {value ?? t('review.none')}
          </label>
        ))}
      </fieldset>
      <label className="field">
        <span>{t('review.note')}</span>
        <textarea className="input" rows={2} maxLength={MAX_NOTE_CHARS} value={note} onChange={(event) => setNote(event.target.value)} />
      </label>
      <div className="row">
        <button type="submit" className="button small primary">
          {t('review.save')}
        </button>
        <span className="quiet" role="status">
          {write.isSuccess && Object.keys(patch).length === 0 && t('review.saved')}
        </span>
        {write.error && (
          <span className="wrong" role="alert">
            {write.error.message}
          </span>
        )}
      </div>
    </form>
  )
}
