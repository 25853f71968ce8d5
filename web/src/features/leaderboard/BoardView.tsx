// One board: its conditions, its entries with intervals and marks, and links to runs and comparisons.
import { Link } from '@tanstack/react-router'
import type { Board, LeaderboardEntry } from '@/server/types'
import { ABSENT, signClass, useFormat } from '@/shared/format'
import { textOr, useText } from '@/shared/i18n'
import { CutoffTags, MaskedTag } from '@/shared/ui/evidenceMarks'
import { IntervalPlot } from '@/shared/ui/IntervalPlot'
import { HouseTag, Pairs, Tag } from '@/shared/ui/parts'
import { UnverifiedTag } from '@/shared/ui/pointInTime'
import { type Column, SortTable } from '@/shared/ui/table'
import css from './leaderboard.module.css'
import { compareItems, rankOf, rankText, scaleOf } from './rows'
import { codeOr, useLeaderboardText } from './texts'

export function BoardView({ board }: { board: Board }) {
  const t = useText()
  const words = useLeaderboardText()
  const format = useFormat()
  const entries = board.entries ?? []
  const items = compareItems(entries)
  return (
    <div className="panel">
      <div className="panel-head">
        <h2>{format.span(board.start_date, board.end_date)}</h2>
        <span className="second grow">{words('ranked', { ranked: board.ranked, tests: board.tests })}</span>
        {items.length > 1 && (
          <Link to="/app/compare" search={{ select: items.join(',') }} className="button">
            {words('compare.first', { count: items.length })}
          </Link>
        )}
      </div>
      <div className="panel-body">
        <Pairs
          rows={[
            [words('data'), <span key="data" title={board.dataset_hash}>{board.dataset}</span>],
            [words('market'), <span key="market" title={board.market_hash}>{textOr(t, `market.${board.market}`, board.market)}</span>],
            [words('costs'), <span key="costs" title={board.costs_hash}>{codeOr(words, 'costs', board.costs)}</span>],
            [words('fill'), board.fill],
            [words('runs'), format.count(board.runs)],
            [words('configurations'), format.count(board.configurations)],
          ]}
        />
      </div>
      <Entries entries={entries} />
      {board.omitted_configurations > 0 && <p className="panel-body second">{words('omitted', { count: board.omitted_configurations })}</p>}
      {board.notes.map((code) => (
        <p key={code} className="panel-body second">
          {codeOr(words, 'note', code)}
        </p>
      ))}
    </div>
  )
}

function Entries({ entries }: { entries: LeaderboardEntry[] }) {
  const t = useText()
  const words = useLeaderboardText()
  const format = useFormat()
  const scale = scaleOf(entries)
  const columns: Column<LeaderboardEntry>[] = [
    {
      id: 'rank',
      label: words('rank'),
      title: words('rank.what'),
      sort: rankOf,
      cell: (entry) => <Rank entry={entry} />,
    },
    { id: 'entry', label: words('entry'), sort: (entry) => entry.label, stays: true, className: () => css.entry ?? '', cell: (entry) => <Name entry={entry} /> },
    {
      id: 'trials',
      label: words('trials'),
      num: true,
      sort: (entry) => entry.trials,
      cell: (entry) => (
        <>
          {format.count(entry.trials)}
          {entry.omitted_runs > 0 && (
            <span className="quiet" title={words('extra.runs.what', { count: entry.omitted_runs })}>
              {' '}
              {words('extra.runs', { count: entry.omitted_runs })}
            </span>
          )}
        </>
      ),
    },
    {
      id: 'return',
      label: words('return'),
      title: words('return.what'),
      num: true,
      sort: (entry) => entry.total_return,
      cell: (entry) => (
        <>
          <span className={signClass(entry.total_return)}>{format.change(entry.total_return)}</span>
          {entry.interval && (
            <div className="quiet nowrap">
              [{format.change(entry.interval.low, 1)}, {format.change(entry.interval.high, 1)}]
            </div>
          )}
        </>
      ),
    },
    {
      id: 'interval',
      label: words('interval'),
      className: () => css.plot ?? '',
      cell: (entry) => entry.total_return != null && <IntervalPlot value={entry.total_return} interval={entry.interval ?? null} scale={scale} />,
    },
    { id: 'annualized', label: words('annualized'), num: true, sort: (entry) => entry.annualized_return, cell: (entry) => format.change(entry.annualized_return) },
    { id: 'sharpe', label: words('sharpe'), num: true, sort: (entry) => entry.sharpe?.annualized, cell: (entry) => <Sharpe entry={entry} /> },
    { id: 'drawdown', label: words('drawdown'), title: words('drawdown.what'), num: true, sort: (entry) => entry.max_drawdown, cell: (entry) => format.percent(entry.max_drawdown) },
    {
      id: 'cost',
      label: words('cost'),
      title: words('cost.what'),
      num: true,
      sort: (entry) => entry.model_cost_usd,
      cell: (entry) => (entry.model_cost_usd == null ? words('cost.unknown') : format.cost(entry.model_cost_usd)),
    },
    { id: 'degraded', label: words('degraded'), num: true, sort: (entry) => entry.quality?.degraded_share, cell: (entry) => <Degraded entry={entry} /> },
    { id: 'days', label: words('days'), num: true, sort: (entry) => entry.days, cell: (entry) => format.count(entry.days) },
  ]
  return <SortTable label={t('nav.leaderboard')} columns={columns} rows={entries} rowKey={(entry) => entry.configuration ?? entry.label} />
}

function Rank({ entry }: { entry: LeaderboardEntry }) {
  const words = useLeaderboardText()
  const { better, worse, not_distinguishable: same, not_compared: other } = entry.against
  if (entry.unranked) {
    return (
      <Tag kind="warn" title={codeOr(words, 'unranked.what', entry.unranked)}>
        {codeOr(words, 'unranked', entry.unranked)}
      </Tag>
    )
  }
  return (
    <strong className="tnum nowrap" title={words('rank.against', { better, worse, same, other })}>
      {rankText(entry) ?? ABSENT}
    </strong>
  )
}

function Name({ entry }: { entry: LeaderboardEntry }) {
  const words = useLeaderboardText()
  const format = useFormat()
  const newest = entry.job_ids[0]
  const isBaseline = entry.kind === 'baseline'
  const others = entry.models.filter((model) => model !== entry.agent)
  return (
    <>
      <div className="row wrap">
        {newest === undefined ? (
          <strong>{isBaseline ? codeOr(words, 'item', entry.label) : entry.label}</strong>
        ) : (
          <Link to="/app/runs/$jobId" params={{ jobId: newest }} title={words('run.newest')}>
            {entry.label}
          </Link>
        )}
        {isBaseline && <Tag kind="house">{words('baseline')}</Tag>}
        <HouseTag isLlm={entry.is_llm} />
        {entry.insolvent_on && (
          <Tag kind="bad" title={words('insolvent.what', { date: format.day(entry.insolvent_on) })}>
            {words('insolvent')}
          </Tag>
        )}
        <UnverifiedTag provenance={entry} />
        <MaskedTag masked={entry.mask ? { mask: entry.mask } : null} />
        <CutoffTags result={entry} />
        {entry.imported_from && <Tag title={words('imported.what', { program: entry.imported_from })}>{words('imported')}</Tag>}
      </div>
      {others.length > 0 && <div className="quiet">{others.join(', ')}</div>}
      {newest !== undefined && entry.agent && (
        <div className="quiet">
          <Link to="/app/compare" search={{ select: `job:${newest}/${entry.agent},baseline:buy_and_hold` }}>
            {words('compare.baseline')}
          </Link>
        </div>
      )}
    </>
  )
}

function Sharpe({ entry }: { entry: LeaderboardEntry }) {
  const t = useText()
  const format = useFormat()
  const { sharpe, sharpe_unavailable: why } = entry
  if (!sharpe) return <span className="quiet">{why ? textOr(t, `compare.no.sharpe.${why}`, why) : ABSENT}</span>
  return (
    <>
      {format.ratio(sharpe.annualized)}
      <div className="quiet nowrap">
        [{format.ratio(sharpe.interval.low)}, {format.ratio(sharpe.interval.high)}]
      </div>
    </>
  )
}

function Degraded({ entry }: { entry: LeaderboardEntry }) {
  const words = useLeaderboardText()
  const format = useFormat()
  const { quality } = entry
  if (!quality) return ABSENT
  const title = words('degraded.what', { degraded: quality.degraded_days, days: quality.model_days, none: quality.no_decision_days, failed: quality.failed_days })
  const share = format.percent(quality.degraded_share, 1)
  return quality.degraded_days > 0 ? (
    <Tag kind="warn" title={title}>
      {share}
    </Tag>
  ) : (
    <span title={title}>{share}</span>
  )
}
