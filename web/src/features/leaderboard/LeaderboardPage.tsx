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
import { useLeaderboardText } from './texts'

export function LeaderboardPage() {
  const { board } = useSearch({ from: '/app/leaderboard' })
  const navigate = useNavigate()
  return <Leaderboard selected={board} onSelect={(board) => void navigate({ to: '/app/leaderboard', search: { board }, replace: true })} />
}

interface Props {
  selected: string | undefined
  onSelect: (board: string) => void
}

export function Leaderboard({ selected, onSelect }: Props) {
  const t = useText()
  const words = useLeaderboardText()
  const all = useQuery(boardsQuery())
  const found = all.data?.boards ?? []
  const first = found.find((one) => one.board_id === selected)?.board_id ?? selected ?? found[0]?.board_id
  useTitle(t('nav.leaderboard'))
  return (
    <div className="page">
      <div className="page-head">
        <div className="grow">
          <h1>{t('nav.leaderboard')}</h1>
          <p className="second">{words('what')}</p>
        </div>
      </div>
      {all.isPending && <Loading rows={6} />}
      {all.error && !all.data && <Failed error={all.error} retry={() => void all.refetch()} />}
      {all.data && found.length === 0 && (
        <div className="panel">
          <Empty title={words('none')} command="papertape run --demo">
            <p className="second">{words('none.why')}</p>
          </Empty>
        </div>
      )}
      {first !== undefined && (
        <>
          <Chooser boards={found} selected={first} onSelect={onSelect} />
          {all.data && found.length < all.data.total && <p className="second">{words('hidden', { shown: found.length, total: all.data.total })}</p>}
          <Selected id={first} />
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

function Selected({ id }: { id: string }) {
  const query = useQuery(boardQuery(id))
  const board = query.data?.boards[0]
  return (
    <>
      {query.isPending && <Loading rows={6} />}
      {query.error && !query.data && <Failed error={query.error} retry={() => void query.refetch()} />}
      {board && <BoardView board={board} />}
    </>
  )
}

function Excluded({ runs }: { runs: ExcludedRuns }) {
  const words = useLeaderboardText()
  const count = runs.branches + runs.continued + runs.with_memory
  return count === 0 ? null : <p className="second">{words('excluded', { count, branches: runs.branches, continued: runs.continued, memory: runs.with_memory })}</p>
}
