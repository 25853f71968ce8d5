// One board: its conditions, its entries, and a comparison of the first ones.
import { Link } from '@tanstack/react-router'
import type { Board } from '@/server/types'
import { useFormat } from '@/shared/format'
import { textOr, useText } from '@/shared/i18n'
import { Pairs } from '@/shared/ui/parts'
import { EntriesTable } from './EntriesTable'
import { compareItems } from './rows'
import { codeOr, useLeaderboardText } from './texts'
import { usePlans } from './usePlans'

/** `model` is the model or agent that the boards are filtered by. */
export function BoardView({ board, model }: { board: Board; model: string | undefined }) {
  const t = useText()
  const words = useLeaderboardText()
  const format = useFormat()
  const entries = board.entries ?? []
  const plans = usePlans(entries)
  const items = compareItems(entries, plans)
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
            [words('fill'), textOr(t, `orders.fills.${board.fill}`, board.fill)],
            [words('runs'), format.count(board.runs)],
            [words('configurations'), format.count(board.configurations)],
          ]}
        />
      </div>
      <EntriesTable board={board.board_id} entries={entries} plans={plans} model={model} />
      {board.omitted_configurations > 0 && <p className="panel-body second">{words('omitted', { count: board.omitted_configurations })}</p>}
      {board.notes.map((code) => (
        <p key={code} className="panel-body second">
          {codeOr(words, 'note', code)}
        </p>
      ))}
    </div>
  )
}
