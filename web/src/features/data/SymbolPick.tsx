import type { Dataset } from '@/server/types'
import { useText } from '@/shared/i18n'
import { Segments } from '@/shared/ui/parts'

interface Props {
  /** Default: the dataset's symbols, without its indexes. */
  symbols?: string[]
  dataset: Dataset
  value: string
  /** The label of an "all" choice, if there is one. */
  all?: string
  onChange: (symbol: string) => void
}

/** Selects one of a dataset's symbols: buttons for a few, a list for many. */
export function SymbolPick({ dataset, symbols = dataset.symbols, value, all, onChange }: Props) {
  const t = useText()
  if (symbols.length <= 8) {
    const choices = symbols.map((symbol) => ({ value: symbol, label: symbol }))
    return <Segments label={t('word.symbol')} value={value} onChange={onChange} choices={all === undefined ? choices : [{ value: '', label: all }, ...choices]} />
  }
  return (
    <select className="select short" aria-label={t('word.symbol')} value={value} onChange={(event) => onChange(event.target.value)}>
      {all !== undefined && <option value="">{all}</option>}
      {symbols.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  )
}
