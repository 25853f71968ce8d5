import { useText, useWord } from '@/shared/i18n'
import { useReasons } from '@/shared/i18n/codes'
import { Note } from '@/shared/ui/states'
import type { Reading } from './useReading'

/** The degraded nodes of this day, with links. */
export function DegradedNote({ reading: { degradations, desk, search, go } }: { reading: Reading }) {
  const t = useText()
  const word = useWord()
  const reasons = useReasons()
  if (degradations.length === 0) return null
  return (
    <Note kind="warn" title={t('session.degraded')}>
      <p>{t('session.degraded.why')}</p>
      <div className="row wrap">
        {degradations.map((one, index) => (
          <button
            key={index}
            type="button"
            className="button small"
            title={one.reason}
            onClick={() => {
              const found = desk.nodes.find((node) => node.name === one.node && (one.symbol == null || node.symbol === one.symbol))
              go({ node: found?.scope, symbol: one.symbol ?? search.symbol, view: 'conversation' })
            }}
          >
            {one.symbol ? `${one.symbol} · ` : ''}
            {word('node', one.node)}: {reasons.why(one.reason)}
          </button>
        ))}
      </div>
    </Note>
  )
}
