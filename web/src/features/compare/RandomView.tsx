// Each run against its own turnover at random: this timing and choice, on this path.
import type { ComparedItem, RandomBaseline } from '@/server/types'
import { ABSENT, signClass, useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { type Column, SortTable } from '@/shared/ui/table'
import { codeText, nameOf, pValue } from './words'

interface Row {
  test: RandomBaseline
  /** Absent if the test is not available. */
  one: RandomBaseline['nulls'][number] | null
}

export function RandomView({ tests, items }: { tests: RandomBaseline[]; items: ComparedItem[] }) {
  const t = useText()
  const format = useFormat()
  const rows: Row[] = tests.flatMap((test): Row[] => (test.unavailable == null ? test.nulls.map((one) => ({ test, one })) : [{ test, one: null }]))
  const columns: Column<Row>[] = [
    { id: 'item', label: t('runs.agent'), stays: true, sort: ({ test }) => nameOf(items, test.item, t), csv: { item: ({ test }) => test.item }, cell: ({ test }) => nameOf(items, test.item, t) },
    { id: 'null', label: t('compare.random.null'), sort: ({ one }) => one?.null, cell: ({ one }) => (one ? codeText('compare.null', one.null, t) : ABSENT) },
    {
      id: 'schedule_return',
      label: t('compare.random.schedule'),
      title: t('compare.random.schedule.what'),
      num: true,
      sort: ({ test }) => test.schedule_return,
      className: ({ test }) => signClass(test.schedule_return),
      cell: ({ test, one }) => format.change(one && test.schedule_return),
    },
    { id: 'percentiles', label: t('compare.random.percentiles'), num: true, csv: { percentiles: ({ one }) => one?.percentiles?.join(' ') }, cell: ({ one }) => one?.percentiles?.map((value) => format.change(value, 1)).join(' / ') ?? ABSENT },
    {
      id: 'draws',
      label: t('compare.random.draws'),
      num: true,
      sort: ({ one }) => one?.draws,
      csv: { draws: ({ one }) => one?.draws, discarded: ({ one }) => one?.discarded },
      cell: ({ one }) => one && <span title={t('compare.random.discarded', { count: one.discarded })}>{format.count(one.draws)}</span>,
    },
    { id: 'p_value', label: 'p', num: true, sort: ({ one }) => one?.p_value, cell: ({ one }) => pValue(one?.p_value, format) },
    { id: 'words', label: t('compare.random.words'), csv: { words: ({ test, one }) => one?.words ?? test.unavailable }, className: () => 'second', cell: ({ test, one }) => <span lang="en">{one?.words ?? test.unavailable}</span> },
  ]
  return (
    <section className="panel" aria-label={t('compare.random')}>
      <div className="panel-head">
        <h2>{t('compare.random')}</h2>
        <span className="second">{t('compare.random.what')}</span>
      </div>
      <SortTable label={t('compare.random')} name="random-baseline" columns={columns} rows={rows} rowKey={({ test, one }) => `${test.item} ${one?.null ?? ''}`} />
    </section>
  )
}
