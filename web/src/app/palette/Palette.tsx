// The command palette: its button, its key, and its dialog, which loads when it is opened.
import { lazy, Suspense, useEffect, useState } from 'react'
import { useText } from '@/shared/i18n'
import { Icon } from '@/shared/ui/icons'
import css from './palette.module.css'

const PaletteDialog = lazy(() => import('./PaletteDialog').then((module) => ({ default: module.PaletteDialog })))

export function Palette() {
  const t = useText()
  const [open, setOpen] = useState(false)
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
      // Another dialog keeps its input.
      if (document.querySelector('dialog[open]:not([data-palette])')) return
      event.preventDefault()
      setOpen((now) => !now)
    }
    window.addEventListener('keydown', pressed)
    return () => window.removeEventListener('keydown', pressed)
  }, [])
  const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent)
  return (
    <>
      <button type="button" className={`nav-link ${css.button}`} title={t('palette.open')} onClick={() => setOpen(true)}>
        <Icon name="search" />
        <span className={css.label}>{t('action.search')}</span>
        <kbd aria-hidden="true">{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      {open && (
        <Suspense fallback={null}>
          <PaletteDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
