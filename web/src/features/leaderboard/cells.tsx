// The cells of an entry: its ranks, its name with its marks, its Sharpe ratio and its degraded days.
import { Link } from '@tanstack/react-router'
import type { LeaderboardEntry } from '@/server/types'
import { ABSENT, useFormat } from '@/shared/format'
import { textOr, useText } from '@/shared/i18n'
import { CutoffTags, MaskedTag } from '@/shared/ui/evidenceMarks'
import { HouseTag, Tag } from '@/shared/ui/parts'
import { UnverifiedTag } from '@/shared/ui/pointInTime'
import { rankText } from './rows'
import { codeOr, useLeaderboardText } from './texts'

export function Rank({ entry }: { entry: LeaderboardEntry }) {
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

export function Name({ entry, item }: { entry: LeaderboardEntry; item: string | null }) {
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
      {item !== null && (
        <div className="quiet">
          <Link to="/app/compare" search={{ select: `${item},baseline:buy_and_hold` }}>
            {words('compare.baseline')}
          </Link>
        </div>
      )}
    </>
  )
}

export function Sharpe({ entry }: { entry: LeaderboardEntry }) {
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

export function Degraded({ entry }: { entry: LeaderboardEntry }) {
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
