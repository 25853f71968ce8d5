import { useQueries } from '@tanstack/react-query'
import { jobResults } from '@/server/queries'
import type { ComparedItem } from '@/server/types'
import { ABSENT, useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { MarkTags } from '@/shared/ui/markTags'
import { Tag } from '@/shared/ui/parts'
import { QualityShare } from '@/shared/ui/quality'
import { marksOfRuns, researchOfRuns } from './marks'

/** The marks of all runs of an item: a trial is not better than its marks. */
export function ItemMarks({ item }: { item: ComparedItem }) {
  const t = useText()
  const format = useFormat()
  const queries = useQueries({ queries: item.job_ids.map((id) => jobResults(id)) })
  const results = queries.flatMap(({ data }) => data?.results.find((one) => one.model === item.agent) ?? [])
  if (results.length === 0 || queries.some((query) => query.isPending)) return ABSENT
  return (
    <span className="row wrap end">
      <QualityShare {...researchOfRuns(results)} />
      <MarkTags marks={marksOfRuns(results, t, format)} />
      {results.length < queries.length && (
        <Tag kind="warn" title={t('compare.marks.missing.what')}>
          {t('compare.marks.missing', { count: results.length, total: queries.length })}
        </Tag>
      )}
    </span>
  )
}
