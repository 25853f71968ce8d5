// Tooltips need a pointer that hovers. On a touch screen, a tap on what has one shows its text.
import { useEffect, useState } from 'react'

/** How long the text stays. */
const SHOWN_MS = 6000

/** Elements whose tap does something else. */
const ACTS = 'a, button, input, select, textarea, summary, label'

export function TouchTitles() {
  const [text, setText] = useState<string | null>(null)
  useEffect(() => {
    const tapped = (event: PointerEvent) => {
      if (event.pointerType === 'mouse' || !(event.target instanceof Element)) return
      const titled = event.target.closest('[title]')
      setText(titled === null || titled.closest(ACTS) !== null ? null : titled.getAttribute('title'))
    }
    document.addEventListener('pointerup', tapped)
    return () => document.removeEventListener('pointerup', tapped)
  }, [])
  useEffect(() => {
    if (text === null) return
    const timer = setTimeout(() => setText(null), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <div role="status" className={text === null ? 'hidden-label' : 'toast'}>
      {text}
    </div>
  )
}
