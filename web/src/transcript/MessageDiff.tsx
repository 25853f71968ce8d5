import { useMemo } from 'react'
import type { Message } from '@/server/types'
import { useText } from '@/shared/i18n'
import { CopyButton } from '@/shared/ui/copy'
import { DiffLines } from './DiffLines'
import { diffOf } from './diff'
import css from './diff.module.css'

interface Props {
  before: Message
  after: Message
  onClose: () => void
}

/** What differs between two messages. */
export function MessageDiff({ before, after, onClose }: Props) {
  const t = useText()
  const lines = useMemo(() => diffOf(before.content, after.content), [before, after])
  return (
    <section className={css.panel} aria-label={t('diff.title')}>
      <header className="row wrap">
        <h2>{t('diff.title')}</h2>
        <span className="mono grow">
          <span className={css.removed}>- {before.path}</span> <span className={css.added}>+ {after.path}</span>
        </span>
        <CopyButton text={lines.join('\n')} />
        <button type="button" className="button small" onClick={onClose}>
          {t('action.close')}
        </button>
      </header>
      {lines.length === 0 ? <p className="second">{t('diff.same')}</p> : <DiffLines lines={lines} />}
    </section>
  )
}
