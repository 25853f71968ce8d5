// An instrument's bars. Selecting a day lists the sessions that saw its bar.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { PriceChart } from '@/charts/PriceChart'
import { bars as barsQuery } from '@/server/queries'
import type { Bar, Dataset } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { Icon } from '@/shared/ui/icons'
import { Failed, Loading, Note } from '@/shared/ui/states'
import { SeenBy } from '../seenBy/SeenBy'
import { SymbolPick } from './SymbolPick'
import css from './data.module.css'

export function Prices({ dataset }: { dataset: Dataset }) {
  const t = useText()
  const format = useFormat()
  const navigate = useNavigate({ from: '/app/data' })
  const search = useSearch({ from: '/app/data' })
  // Indexes have bars too.
  const symbols = useMemo(() => [...dataset.symbols, ...dataset.indexes], [dataset])
  const symbol = search.symbol !== undefined && symbols.includes(search.symbol) ? search.symbol : (symbols[0] ?? '')
  const query = useQuery(barsQuery(dataset.hash, symbol))
  const all = useMemo(() => query.data?.bars ?? [], [query.data])
  const day = search.day
  const index = day === undefined ? -1 : all.findIndex((bar) => bar.date === day)
  const go = (part: Record<string, string | undefined>) => void navigate({ search: (now) => ({ ...now, dataset: dataset.hash, symbol, ...part }), replace: true, resetScroll: false })
  const span = useMemo(() => (search.from && search.to ? { from: search.from, to: search.to } : null), [search.from, search.to])
  return (
    <>
      <div className={`${css.panelTools} row wrap`}>
        <SymbolPick dataset={dataset} symbols={symbols} value={symbol} onChange={(value) => void navigate({ search: { dataset: dataset.hash, symbol: value, day }, replace: true })} />
        <span className="quiet">{t('data.as.traded')}</span>
        <span className="grow" />
        {span && (
          <button type="button" className="button small" onClick={() => go({ from: undefined, to: undefined })}>
            {t('data.span.shown', { from: format.day(span.from), to: format.day(span.to) })} ×
          </button>
        )}
        <DayPick bars={all} index={index} day={day} onChange={(value) => go({ day: value })} />
      </div>
      {query.isPending && <Loading rows={8} />}
      {query.error && <Failed error={query.error} retry={() => void query.refetch()} />}
      {(query.data === null || (query.data && all.length === 0)) && (
        <div className="panel-body">
          <Note kind="warn">{query.data === null ? t('run.no.bars') : t('data.no.bars', { symbol })}</Note>
        </div>
      )}
      {all.length > 0 && <PriceChart label={symbol} bars={all} events={query.data?.actions} span={span} marked={day} onPick={(value) => go({ day: value })} />}
      {day === undefined ? (
        all.length > 0 && <p className="panel-body second">{t('data.pick')}</p>
      ) : (
        <BarReaders key={`${symbol} ${day}`} dataset={dataset} symbol={symbol} day={day} bar={all[index]} />
      )}
    </>
  )
}

interface DayPickProps {
  bars: Bar[]
  index: number
  day: string | undefined
  onChange: (day: string | undefined) => void
}

/** Day selection by keyboard, equivalent to a click on the chart. */
function DayPick({ bars, index, day, onChange }: DayPickProps) {
  const t = useText()
  const step = (by: number) => onChange(bars[index < 0 ? bars.length - 1 : index + by]?.date)
  return (
    <div className="row">
      <button type="button" className="button small" aria-label={t('keys.previous')} disabled={index === 0 || bars.length === 0} onClick={() => step(-1)}>
        <Icon name="left" />
      </button>
      <input className="input short" type="date" aria-label={t('word.day')} value={day ?? ''} min={bars[0]?.date} max={bars[bars.length - 1]?.date} onChange={(event) => onChange(event.target.value || undefined)} />
      <button type="button" className="button small" aria-label={t('keys.next')} disabled={index === bars.length - 1 || bars.length === 0} onClick={() => step(1)}>
        <Icon name="right" />
      </button>
    </div>
  )
}

function BarReaders({ dataset, symbol, day, bar }: { dataset: Dataset; symbol: string; day: string; bar: Bar | undefined }) {
  const t = useText()
  const format = useFormat()
  return (
    <section className={css.sub} aria-label={t('data.shown.bar', { symbol, day: format.day(day) })}>
      <div className={`${css.panelTools} row wrap`}>
        <h3>{t('data.shown.bar', { symbol, day: format.day(day) })}</h3>
        {bar ? (
          <span className="second tnum">
            {t('data.ohlc', { open: format.price(bar.open), high: format.price(bar.high), low: format.price(bar.low), close: format.price(bar.close) })} · {format.compact(bar.volume)}
          </span>
        ) : (
          <span className="second">{t('data.no.bar')}</span>
        )}
      </div>
      <SeenBy filter={{ kind: 'bar', dataset: dataset.hash, symbol, from: day }} zone={dataset.zone} />
      <p className="panel-body quiet">{t('data.shown.bar.what')}</p>
    </section>
  )
}
