// The sessions of a run with a score or a note.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { jobReviews } from '@/server/reviews'
import type { Job, ReviewedSession } from '@/server/types'
import { ABSENT, useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { type Column, SortTable } from '@/shared/ui/table'
import css from './run.module.css'

const ALL = ''
const NO_SCORE = 'none'

export function ReviewsView({ job }: { job: Job }) {
  const t = useText()
  const reviews = useQuery(jobReviews(job.job_id))
  const [score, setScore] = useState(ALL)
  const [agent, setAgent] = useState(ALL)
  if (reviews.isPending) return <Loading rows={6} />
  if (!reviews.data) return <Failed error={reviews.error} retry={() => void reviews.refetch()} />
  if (reviews.data.length === 0) {
    return (
      <Empty title={t('reviews.none')}>
        <p className="second">{t('reviews.none.why')}</p>
      </Empty>
    )
  }
  const agents = [...new Set(reviews.data.map((one) => one.model))].sort()
  const shown = reviews.data.filter((one) => (agent === ALL || one.model === agent) && (score === ALL || String(one.review.score ?? NO_SCORE) === score))
  return (
    <section className="panel" aria-label={t('run.tab.reviews')}>
      <div className="panel-head">
        <h2>{t('run.tab.reviews')}</h2>
        <span className="quiet grow tnum">{t('reviews.count', { count: shown.length, mean: meanOf(shown) })}</span>
        {agents.length > 1 && (
          <select className="select short" aria-label={t('runs.agent')} value={agent} onChange={(event) => setAgent(event.target.value)}>
            <option value={ALL}>{t('reviews.agent.all')}</option>
            {agents.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
        <select className="select short" aria-label={t('review.score')} value={score} onChange={(event) => setScore(event.target.value)}>
          <option value={ALL}>{t('reviews.score.all')}</option>
          {[1, 2, 3, 4, 5].map((value) => (
            <option key={value} value={value}>
              {t('review.of', { score: value })}
            </option>
          ))}
          <option value={NO_SCORE}>{t('review.none')}</option>
        </select>
      </div>
      <Table key={`${score} ${agent}`} job={job} rows={shown} />
    </section>
  )
}

/** The mean score, with one decimal. */
function meanOf(rows: readonly ReviewedSession[]): string {
  const scores = rows.flatMap(({ review }) => review.score ?? [])
  return scores.length === 0 ? ABSENT : (scores.reduce((sum, one) => sum + one, 0) / scores.length).toFixed(1)
}

/** Its file has the columns that `papertape review --csv` writes. */
function Table({ job, rows }: { job: Job; rows: ReviewedSession[] }) {
  const t = useText()
  const format = useFormat()
  const columns = useMemo<Column<ReviewedSession>[]>(
    () => [
      {
        id: 'day',
        label: t('word.day'),
        sort: (row) => row.date,
        cell: (row) => (
          <Link to="/app/runs/$jobId/$date/$model" params={{ jobId: job.job_id, date: row.date, model: row.model }} className="nowrap">
            {format.day(row.date)}
          </Link>
        ),
        className: () => 'tnum',
        stays: true,
        csv: { job_id: () => job.job_id, session_id: (row) => row.session_id, date: (row) => row.date },
      },
      { id: 'agent', label: t('runs.agent'), sort: (row) => row.model, cell: (row) => row.model, csv: { agent: (row) => row.model, status: (row) => row.status } },
      { id: 'score', label: t('review.score'), num: true, sort: (row) => row.review.score, cell: (row) => row.review.score ?? ABSENT },
      { id: 'note', label: t('review.note'), sort: (row) => row.review.note, cell: (row) => <span className={css.noteText}>{row.review.note}</span> },
      { id: 'at', label: t('reviews.at'), sort: (row) => row.review.updated_at, cell: (row) => format.instant(row.review.updated_at), className: () => 'tnum nowrap', csv: { updated_at: (row) => row.review.updated_at } },
      { id: 'by', label: t('reviews.by'), sort: (row) => row.review.updated_by, cell: (row) => row.review.updated_by ?? '', csv: { updated_by: (row) => row.review.updated_by } },
    ],
    [t, format, job.job_id],
  )
  return (
    <SortTable label={t('run.tab.reviews')} name="reviews" columns={columns} rows={rows} rowKey={(row) => String(row.session_id)} />
  )
}
