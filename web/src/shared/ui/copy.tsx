import { useState } from 'react'
import { useText } from '../i18n'

/** How long a button says that it has copied. */
const SHOWN_MS = 1500

interface Props {
  /** Computed when it is copied, because it may be long. */
  text: string | (() => string)
  /** Default: "Copy". */
  label?: string
  /** What is copied, for screen readers. */
  describes?: string
}

/** Copies a text to the clipboard. */
export function CopyButton({ text, label, describes }: Props) {
  const t = useText()
  const [copied, setCopied] = useState(false)
  const copy = () => {
    void navigator.clipboard?.writeText(typeof text === 'string' ? text : text()).then(() => {
      setCopied(true)
      setTimeout(() => setCopied(false), SHOWN_MS)
    })
  }
  return (
    <button type="button" className="button small plain" aria-label={describes && !copied ? describes : undefined} onClick={copy}>
      {copied ? t('action.copied') : (label ?? t('action.copy'))}
    </button>
  )
}
