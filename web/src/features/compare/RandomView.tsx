// Each run against its own turnover at random: this timing and choice, on this path.
import type { ComparedItem, RandomBaseline } from '@/server/types'
import { ABSENT, signClass, useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { ScrollX } from '@/shared/ui/scroll'
import { codeText, nameOf, pValue } from './words'

export function RandomView({ tests, items }: { tests: RandomBaseline[]; items: ComparedItem[] }) {
  const t = useText()
  const format = useFormat()
  return (
    <section className="panel" aria-label={t('compare.random')}>
      <div className="panel-head">
        <h2>{t('compare.random')}</h2>
        <span className="second">{t('compare.random.what')}</span>
      </div>
      <ScrollX label={t('compare.random')}>
        <table className="grid-table">
          <thead>
            <tr>
              <th>{t('runs.agent')}</th>
              <th>{t('compare.random.null')}</th>
              <th className="num" title={t('compare.random.schedule.what')}>
                {t('compare.random.schedule')}
              </th>
              <th className="num">{t('compare.random.percentiles')}</th>
              <th className="num">{t('compare.random.draws')}</th>
              <th className="num">p</th>
              <th>{t('compare.random.words')}</th>
            </tr>
          </thead>
          <tbody>
            {tests.map((test) =>
              test.unavailable != null ? (
                <tr key={test.item}>
                  <td>{nameOf(items, test.item, t)}</td>
                  <td colSpan={6} className="second" lang="en">
                    {test.unavailable}
                  </td>
                </tr>
              ) : (
                test.nulls.map((one) => (
                  <tr key={`${test.item} ${one.null}`}>
                    <td>{nameOf(items, test.item, t)}</td>
                    <td>{codeText('compare.null', one.null, t)}</td>
                    <td className={`num ${signClass(test.schedule_return)}`}>{format.change(test.schedule_return)}</td>
                    <td className="num">{one.percentiles?.map((value) => format.change(value, 1)).join(' / ') ?? ABSENT}</td>
                    <td className="num" title={t('compare.random.discarded', { count: one.discarded })}>
                      {format.count(one.draws)}
                    </td>
                    <td className="num">{pValue(one.p_value, format)}</td>
                    <td className="second" lang="en">
                      {one.words}
                    </td>
                  </tr>
                ))
              ),
            )}
          </tbody>
        </table>
      </ScrollX>
    </section>
  )
}
