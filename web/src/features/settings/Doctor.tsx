// The looks of `papertape doctor`, as the server makes them.
import { useQuery } from '@tanstack/react-query'
import { doctor } from '@/server/queries'
import type { Finding } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { Tag } from '@/shared/ui/parts'
import { Command, Failed, Loading } from '@/shared/ui/states'

/** What is broken first, then what one may want to know. */
const ORDER: Record<Finding['state'], number> = { broken: 0, note: 1, ok: 2 }

export function Doctor() {
  const t = useText()
  const format = useFormat()
  const found = useQuery(doctor())
  const findings = [...(found.data?.findings ?? [])].sort((a, b) => ORDER[a.state] - ORDER[b.state])
  const broken = findings.filter((finding) => finding.state === 'broken').length
  return (
    <section className="panel" aria-label={t('settings.doctor')} aria-busy={found.isFetching}>
      <div className="panel-head">
        <h2>{t('settings.doctor')}</h2>
        {found.data && (broken > 0 ? <Tag kind="bad">{t('doctor.broken', { count: broken })}</Tag> : <span className="second">{t('doctor.well')}</span>)}
        <span className="grow" />
        {found.data && <span className="quiet tnum">{t('doctor.looked', { at: format.clock(found.data.looked_at) })}</span>}
        <button type="button" className="button small" disabled={found.isFetching} onClick={() => void found.refetch()}>
          {found.isFetching ? t('doctor.looking') : t('doctor.again')}
        </button>
      </div>
      {found.isPending && <Loading rows={6} />}
      {found.error && !found.data && (
        <div className="panel-body stack">
          <Failed error={found.error} retry={() => void found.refetch()} />
          <Command text="papertape doctor" />
        </div>
      )}
      {found.data && (
        <ul className="looks">
          {findings.map((finding, index) => (
            <Look key={index} finding={finding} />
          ))}
        </ul>
      )}
      <p className="panel-body second">{t('settings.doctor.what')}</p>
    </section>
  )
}

const MARK: Record<Finding['state'], string> = { ok: '✓', note: '·', broken: '✗' }

function Look({ finding }: { finding: Finding }) {
  const t = useText()
  const word = useWord()
  return (
    <li className={`look look-${finding.state}`}>
      <span className="look-mark" aria-hidden="true">
        {MARK[finding.state]}
      </span>
      <span className="hidden-label">{t(`doctor.state.${finding.state}`)}</span>
      <b>{word('look', finding.what)}</b>
      <span>{finding.text}</span>
    </li>
  )
}
