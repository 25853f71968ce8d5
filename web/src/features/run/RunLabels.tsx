// A run's tags and note below its title, and the form that edits them with its name.
import { Link } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import type { Job } from '@/server/types'
import { useText } from '@/shared/i18n'
import { runTitle } from '@/shared/runTitle'
import { Operate } from '@/shared/ui/operate'
import { LabelForm } from '../runs/LabelForm'
import css from './run.module.css'

export function RunLabels({ job }: { job: Job }) {
  const t = useText()
  const [isEditing, setEditing] = useState(false)
  const close = useCallback(() => setEditing(false), [])
  const { tags, note } = job.labels
  if (isEditing) return <LabelForm job={job} onClose={close} />
  return (
    <>
      <div className="facts">
        {tags.map((tag) => (
          <Link key={tag} to="/app/runs" search={{ tag }} className="tag" aria-label={t('labels.find', { tag })}>
            {tag}
          </Link>
        ))}
        <Operate>
          <button type="button" className="button small plain" aria-label={t('labels.edit.of', { run: runTitle(job, t) })} onClick={() => setEditing(true)}>
            ✎ {t('labels.edit')}
          </button>
        </Operate>
      </div>
      {note && (
        // A scrollable region must be reachable by keyboard.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <p className={css.note} tabIndex={0} aria-label={t('labels.note')} role="note">
          {note}
        </p>
      )}
    </>
  )
}
