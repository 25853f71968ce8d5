import { useText } from '@/shared/i18n'

/** The credit that the charts' licence asks for. */
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
