// Configurations ranked over comparable runs: one board per set of conditions.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { board as boardQuery, boards as boardsQuery } from '@/server/leaderboard'
import type { Board, ExcludedRuns } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { useTitle } from '@/shared/title'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { BoardView } from './BoardView'
import { ModelFilter } from './ModelFilter'
import { useLeaderboardText } from './texts'

export function LeaderboardPage() {
  const { board, model } = useSearch({ from: '/app/leaderboard' })
  const navigate = useNavigate()
  return <Leaderboard selected={board} model={model} onChange={(part) => void navigate({ to: '/app/leaderboard', search: { board, model, ...part }, replace: true })} />
}

interface Props {
  selected: string | undefined
  /** The model or agent whose boards are listed. */
  model: string | undefined
  onChange: (part: { board?: string | undefined; model?: string | undefined }) => void
}

export function Leaderboard({ selected, model, onChange }: Props) {
  const t = useText()
  const words = useLeaderboardText()
  const all = useQuery(boardsQuery(model))
  const found = all.data?.boards ?? []
  // Unfiltered, the selected board may be one of those that are too old to be listed.
  const first = found.find((one) => one.board_id === selected)?.board_id ?? (model === undefined ? selected : undefined) ?? found[0]?.board_id
  useTitle(t('nav.leaderboard'))
  return (
    <div className="page">
      <div className="page-head">
        <div className="grow">
          <h1>{t('nav.leaderboard')}</h1>
          <p className="second">{words('what')}</p>
        </div>
        <ModelFilter key={model ?? ''} model={model} boards={found} onChange={(model) => onChange({ model })} />
      </div>
      {all.isPending && <Loading rows={6} />}
      {all.error && !all.data && <Failed error={all.error} retry={() => void all.refetch()} />}
      {all.data && found.length === 0 && model !== undefined && (
        <div className="panel">
          <Empty title={words('filter.none', { model })}>
            <button type="button" className="button" onClick={() => onChange({ model: undefined })}>
              {words('filter.clear')}
            </button>
          </Empty>
        </div>
      )}
      {all.data && found.length === 0 && model === undefined && (
        <div className="panel">
          <Empty title={words('none')} command="papertape run --demo">
            <p className="second">{words('none.why')}</p>
          </Empty>
        </div>
      )}
      {first !== undefined && (
        <>
          <Chooser boards={found} selected={first} onSelect={(board) => onChange({ board })} />
          {all.data && found.length < all.data.total && <p className="second">{words('hidden', { shown: found.length, total: all.data.total })}</p>}
          <Selected id={first} model={model} />
        </>
      )}
      {all.data && <Excluded runs={all.data.excluded} />}
    </div>
  )
}

function Chooser({ boards, selected, onSelect }: { boards: Board[]; selected: string; onSelect: (board: string) => void }) {
  const words = useLeaderboardText()
  const format = useFormat()
  const title = (one: Board) =>
    words('board.of', { dataset: one.dataset, universe: one.universe, days: format.span(one.start_date, one.end_date), mask: one.mask ? words('board.mask', { mask: one.mask }) : '' })
  return (
    <label className="field">
      <span>{words('board')}</span>
      <select className="select" value={selected} onChange={(event) => onSelect(event.target.value)}>
        {boards.map((one) => (
          <option key={one.board_id} value={one.board_id}>
            {title(one)} · {one.market} · {format.count(one.configurations)}
          </option>
        ))}
      </select>
    </label>
  )
}

function Selected({ id, model }: { id: string; model: string | undefined }) {
  const query = useQuery(boardQuery(id))
  const board = query.data?.boards[0]
  return (
    <>
      {query.isPending && <Loading rows={6} />}
      {query.error && !query.data && <Failed error={query.error} retry={() => void query.refetch()} />}
      {board && <BoardView board={board} model={model} />}
    </>
  )
}

function Excluded({ runs }: { runs: ExcludedRuns }) {
  const words = useLeaderboardText()
  const count = runs.branches + runs.continued + runs.with_memory
  return count === 0 ? null : <p className="second">{words('excluded', { count, branches: runs.branches, continued: runs.continued, memory: runs.with_memory })}</p>
}
