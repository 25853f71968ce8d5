// A branch and its parent: the first step that differs, and the orders of the days that differ.
import { Link } from '@tanstack/react-router'
import type { BranchComparison } from '@/server/types'
import { signClass, useFormat } from '@/shared/format'
import { shortId } from '@/shared/ids'
import { useText } from '@/shared/i18n'
import { type Column, SortTable } from '@/shared/ui/table'
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
  const top = () => 'top'
  const columns: Column<BranchComparison['decisions'][number]>[] = [
    { id: 'date', label: t('word.day'), sort: (one) => one.date, className: () => 'top nowrap', cell: (one) => session(branch.branch, one.date, format.day(one.date)) },
    { id: 'parent', label: t('compare.branch.parent'), csv: { parent_orders: (one) => one.parent.join('\n') }, className: top, cell: (one) => <Orders lines={one.parent} /> },
    { id: 'branch', label: t('run.branch'), csv: { branch_orders: (one) => one.branch.join('\n') }, className: top, cell: (one) => <Orders lines={one.branch} /> },
    { id: 'value_difference', label: t('compare.branch.value'), num: true, sort: (one) => one.value_difference, className: (one) => `top ${signClass(one.value_difference)}`, cell: (one) => format.signed(one.value_difference, 2) },
  ]
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
      {branch.decisions.length > 0 && <SortTable label={t('compare.branch.orders', { count: branch.different_days })} name={`differences-${shortId(branch.branch)}`} columns={columns} rows={branch.decisions} rowKey={(one) => one.date} />}
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
