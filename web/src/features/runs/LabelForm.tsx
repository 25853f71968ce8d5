// The name, tags and note of a run, edited in its row.
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { ApiError } from '@/server/client'
import { useLabels } from '@/server/labels'
import type { Job } from '@/server/types'
import { useText } from '@/shared/i18n'
import css from './runs.module.css'

/** Tags separated by commas, also Chinese ones. */
export function tagsOf(text: string): string[] {
  return [...new Set(text.split(/[,，]/).map((tag) => tag.trim()).filter(Boolean))]
}

export function LabelForm({ job, onClose }: { job: Job; onClose: () => void }) {
  const t = useText()
  const [name, setName] = useState(job.labels.name ?? '')
  const [tags, setTags] = useState(job.labels.tags.join(', '))
  const [note, setNote] = useState(job.labels.note ?? '')
  const first = useRef<HTMLInputElement>(null)
  const write = useLabels(job.job_id)
  useEffect(() => first.current?.focus(), [])
  useEffect(() => {
    const form = first.current?.form
    const pressed = (event: KeyboardEvent) => {
      if (event.key === 'Escape') onClose()
    }
    form?.addEventListener('keydown', pressed)
    return () => form?.removeEventListener('keydown', pressed)
  }, [onClose])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // What was not edited is not sent, so that it does not undo someone else's change.
    const patch = {
      ...(name !== (job.labels.name ?? '') && { name }),
      ...(tags !== job.labels.tags.join(', ') && { tags: tagsOf(tags) }),
      ...(note !== (job.labels.note ?? '') && { note }),
    }
    if (Object.keys(patch).length === 0) return onClose()
    write.mutate(patch, { onSuccess: onClose })
  }
  const error = write.error
  return (
    <form className={css.labels} aria-label={t('labels.edit')} onSubmit={submit}>
      <label className="field">
        <span>{t('labels.name')}</span>
        <input ref={first} className="input" maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <label className="field">
        <span>{t('labels.tags')}</span>
        <input className="input" value={tags} placeholder={t('labels.tags.hint')} onChange={(event) => setTags(event.target.value)} />
      </label>
      <label className="field wide">
        <span>{t('labels.note')}</span>
        <textarea className="input" rows={2} maxLength={10_000} value={note} onChange={(event) => setNote(event.target.value)} />
      </label>
      <div className="row">
        <button type="submit" className="button small primary" disabled={write.isPending}>
          {t('labels.save')}
        </button>
        <button type="button" className="button small" onClick={onClose}>
          {t('action.cancel')}
        </button>
        {error && (
          <span className="wrong" role="alert">
            {error instanceof ApiError || error instanceof Error ? error.message : String(error)}
          </span>
        )}
      </div>
    </form>
  )
}
