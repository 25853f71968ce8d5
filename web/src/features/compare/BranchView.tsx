// A branch and its parent: the first step that differs, and the orders of the days that differ.
import { Link } from '@tanstack/react-router'
import type { BranchComparison } from '@/server/types'
import { signClass, useFormat } from '@/shared/format'
import { shortId } from '@/shared/ids'
import { useText } from '@/shared/i18n'
import { DiffLines } from '@/transcript/DiffLines'
import css from './compare.module.css'
import { codeText, points, pointsInterval } from './words'

export function BranchView({ branch }: { branch: BranchComparison }) {
  const t = useText()
  const format = useFormat()
  const first = branch.first_difference
  const { difference } = branch
  const session = (jobId: string, date: string, label: string, at?: string) => (
    <Link to="/app/runs/$jobId/$date/$model" params={{ jobId, date, model: branch.agent }} search={at === undefined ? {} : { at }}>
      {label}
    </Link>
  )
  return (
    <section className="panel" aria-label={t('run.branch')}>
      <div className="panel-head">
        <h2>{t('run.branch')}</h2>
        <span className="second grow">
          {t('compare.branch.what', { agent: branch.agent, branch: shortId(branch.branch), parent: shortId(branch.parent), date: format.day(branch.date), at: branch.at })}
        </span>
      </div>
      <div className="panel-body stack">
        <p>
          {difference
            ? t('compare.branch.since', { days: branch.days, difference: points(difference.total, format, t), interval: difference.total_interval ? pointsInterval(difference.total_interval, format) : t('compare.no.interval') })
            : t('compare.branch.days', { days: branch.days })}
        </p>
        <h3>{t('compare.branch.first')}</h3>
        {first ? (
          <>
            <p>
              {format.day(first.date)} · <code>{first.path}</code> · {codeText('compare.branch.differs', first.differs, t)} · {session(branch.parent, first.date, t('compare.branch.parent'), first.path)} ·{' '}
              {session(branch.branch, first.date, t('run.branch'), first.path)}
            </p>
            <DiffLines lines={first.diff} />
            {first.is_truncated && <p className="quiet">{t('compare.branch.truncated')}</p>}
          </>
        ) : (
          <p className="second">{t('compare.branch.same')}</p>
        )}
        <h3>{t('compare.branch.orders', { count: branch.different_days })}</h3>
      </div>
      {branch.decisions.length > 0 && (
        <div className="scroll-x">
          <table className="grid-table">
            <thead>
              <tr>
                <th>{t('word.day')}</th>
                <th>{t('compare.branch.parent')}</th>
                <th>{t('run.branch')}</th>
                <th className="num">{t('compare.branch.value')}</th>
              </tr>
            </thead>
            <tbody>
              {branch.decisions.map((one) => (
                <tr key={one.date}>
                  <td className="top nowrap">{session(branch.branch, one.date, format.day(one.date))}</td>
                  <td className="top">
                    <Orders lines={one.parent} />
                  </td>
                  <td className="top">
                    <Orders lines={one.branch} />
                  </td>
                  <td className={`num top ${signClass(one.value_difference)}`}>{format.signed(one.value_difference, 2)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

function Orders({ lines }: { lines: string[] }) {
  const t = useText()
  if (lines.length === 0) return <span className="quiet">{t('books.none')}</span>
  return (
    <ul className={css.orders} lang="en">
      {lines.map((line, index) => (
        <li key={index}>{line}</li>
      ))}
    </ul>
  )
}
