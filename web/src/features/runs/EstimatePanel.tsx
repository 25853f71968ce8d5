// What a run may take: calls, tokens and cost, before it starts.
import { useQuery } from '@tanstack/react-query'
import { ApiError } from '@/server/client'
import { estimate as estimateQuery } from '@/server/estimate'
import type { ExperimentBody } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { Tag } from '@/shared/ui/parts'
import { useSettled } from '@/shared/useSettled'
import css from './runs.module.css'

/** The estimate follows the form after a pause of this length. */
const PAUSE_MS = 400

/** `body` is `null` while the form is not valid. */
export function EstimatePanel({ body }: { body: ExperimentBody | null }) {
  const t = useText()
  const format = useFormat()
  const settled = useSettled(body === null ? null : JSON.stringify(body), PAUSE_MS)
  const query = useQuery(estimateQuery(settled))
  const found = settled === null ? undefined : query.data
  const estimate = found?.estimate
  return (
    <section className={`note ${css.estimate}`} aria-label={t('estimate.title')} aria-busy={query.isFetching}>
      <div className="grow stack">
        <strong>{t('estimate.title')}</strong>
        {settled === null && <p className="second">{t('estimate.invalid')}</p>}
        {settled !== null && query.isPending && <p className="second">{t('state.loading')}</p>}
        {settled !== null && query.error && <p className="second">{query.error instanceof ApiError && query.error.status === 0 ? t('state.offline') : query.error.message}</p>}
        {estimate && (
          <>
            <dl className="figures">
              <Figure name={t('estimate.jobs')} value={format.count(estimate.jobs)} />
              <Figure name={t('estimate.days')} value={format.count(estimate.model_days)} />
              <Figure name={t('estimate.calls')} value={format.count(estimate.calls)} />
              <Figure name={t('estimate.tokens')} value={t('estimate.tokens.value', { input: format.compact(estimate.input_tokens), output: format.compact(estimate.output_tokens) })} />
              <Figure name={t('estimate.cost')} value={estimate.cost_usd == null ? t('cost.unknown') : format.cost(estimate.cost_usd)} />
            </dl>
            {estimate.exceeds_budget && <Tag kind="warn">{t('estimate.exceeds')}</Tag>}
            {(found?.warnings ?? []).map((warning) => (
              <p key={warning} className={css.warnText}>
                {warning}
              </p>
            ))}
            <details>
              <summary className="second">{t('estimate.how')}</summary>
              <ul className="rules">
                {estimate.agents.map((agent) => (
                  <li key={agent.model}>
                    <b>{agent.model}</b>: {agent.explanation}
                    {agent.skipped_days > 0 && ` ${t('estimate.skipped', { count: agent.skipped_days })}`}
                  </li>
                ))}
              </ul>
            </details>
          </>
        )}
      </div>
    </section>
  )
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}
