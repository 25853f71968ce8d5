// The checks of `papertape doctor`, as run by the server.
import { useQuery } from '@tanstack/react-query'
import { doctor } from '@/server/queries'
import type { Finding } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { Tag } from '@/shared/ui/parts'
import { Command, Failed, Loading } from '@/shared/ui/states'
import css from './settings.module.css'

/** Failures first, then notes. */
const ORDER: Record<Finding['state'], number> = { broken: 0, note: 1, ok: 2 }

export function Doctor() {
  const t = useText()
  const format = useFormat()
  const query = useQuery(doctor())
  const findings = [...(query.data?.findings ?? [])].sort((a, b) => ORDER[a.state] - ORDER[b.state])
  const broken = findings.filter((finding) => finding.state === 'broken').length
  return (
    <section className="panel" aria-label={t('settings.doctor')} aria-busy={query.isFetching}>
      <div className="panel-head">
        <h2>{t('settings.doctor')}</h2>
        {query.data && (broken > 0 ? <Tag kind="bad">{t('doctor.broken', { count: broken })}</Tag> : <span className="second">{t('doctor.well')}</span>)}
        <span className="grow" />
        {query.data && <span className="quiet tnum">{t('doctor.looked', { at: format.clock(query.data.checked_at) })}</span>}
        <button type="button" className="button small" disabled={query.isFetching} onClick={() => void query.refetch()}>
          {query.isFetching ? t('doctor.looking') : t('doctor.again')}
        </button>
      </div>
      {query.isPending && <Loading rows={6} />}
      {query.error && !query.data && (
        <div className="panel-body stack">
          <Failed error={query.error} retry={() => void query.refetch()} />
          <Command text="papertape doctor" />
        </div>
      )}
      {query.data && (
        <ul className={css.doctorChecks}>
          {findings.map((finding, index) => (
            <Check key={index} finding={finding} />
          ))}
        </ul>
      )}
      <p className="panel-body second">{t('settings.doctor.what')}</p>
    </section>
  )
}

const MARK: Record<Finding['state'], string> = { ok: '✓', note: '·', broken: '✗' }

function Check({ finding }: { finding: Finding }) {
  const t = useText()
  const word = useWord()
  return (
    <li className={css.doctorCheck} data-state={finding.state}>
      <span className={css.checkMark} aria-hidden="true">
        {MARK[finding.state]}
      </span>
      <span className="hidden-label">{t(`doctor.state.${finding.state}`)}</span>
      <b>{word('look', finding.check)}</b>
      <span>{finding.text}</span>
    </li>
  )
}
