import { useText } from '@/shared/i18n'

/** The attribution that the chart library's license requires. */
export function Credit() {
  const t = useText()
  return (
    <figcaption className="credit">
      <a href="https://www.tradingview.com/" target="_blank" rel="noreferrer">
        {t('chart.credit')}
      </a>
    </figcaption>
  )
}
