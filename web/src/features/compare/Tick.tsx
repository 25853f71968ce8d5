// Ticking agents in Runs, and the bar that opens their comparison.
import { Link } from '@tanstack/react-router'
import { useText } from '@/shared/i18n'
import css from './tick.module.css'
import { agentItem, MAX_ITEMS, MIN_ITEMS } from './select'
import { clearTicks, tick, useTicks } from './selection'

export function CompareTick({ jobId, agent }: { jobId: string; agent: string }) {
  const t = useText()
  const ticks = useTicks()
  const item = agentItem(jobId, agent)
  const isTicked = ticks.includes(item)
  return <input type="checkbox" className={css.tick} aria-label={t('compare.tick', { agent })} checked={isTicked} disabled={!isTicked && ticks.length >= MAX_ITEMS} onChange={() => tick(item)} />
}

/** Renders nothing until something is ticked. */
export function CompareBar() {
  const t = useText()
  const ticks = useTicks()
  if (ticks.length === 0) return null
  return (
    <div className={css.bar} role="region" aria-label={t('nav.compare')}>
      <span>{t('compare.ticked', { count: ticks.length })}</span>
      {ticks.length < MIN_ITEMS ? (
        <>
          <span className="second">{t('compare.another')}</span>
          <Link to="/app/compare" search={{ select: [...ticks, 'baseline:buy_and_hold'].join(',') }} className="button small">
            {t('baseline.hold')}
          </Link>
        </>
      ) : (
        <Link to="/app/compare" search={{ select: ticks.join(',') }} className="button small primary">
          {t('compare.open')}
        </Link>
      )}
      <button type="button" className="button small plain" onClick={clearTicks}>
        {t('compare.clear')}
      </button>
    </div>
  )
}
