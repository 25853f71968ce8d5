import { type ReactNode, useEffect, useRef } from 'react'
import { useText } from '../i18n'

interface DialogProps {
  className: 'sheet' | 'modal'
  label: string
  onClose: () => void
  children: ReactNode
}

/** The browser's own dialog: it keeps the focus inside, and gives it back. */
export function Dialog({ className, label, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const pressed = useRef<EventTarget | null>(null)
  useEffect(() => {
    const element = dialog.current
    const back = document.activeElement
    if (element && !element.open) element.showModal()
    return () => {
      element?.close()
      if (back instanceof HTMLElement) back.focus()
    }
  }, [])
  return (
    // A click beside the sheet closes it; Escape does by itself.
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions
    <dialog
      ref={dialog}
      className={className}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onMouseDown={(event) => {
        pressed.current = event.target
      }}
      onClick={(event) => {
        // A drag that ends beside it, as when a text is marked, is no click there.
        if (event.target === dialog.current && pressed.current === dialog.current) onClose()
      }}
    >
      {children}
    </dialog>
  )
}

interface ConfirmProps {
  title: string
  what: string
  /** The word of what is done. */
  action: string
  onYes: () => void
  onClose: () => void
}

/** Asks before something is gone for good. */
export function Confirm({ title, what, action, onYes, onClose }: ConfirmProps) {
  const t = useText()
  return (
    <Dialog className="modal" label={title} onClose={onClose}>
      <div className="stack">
        <h2>{title}</h2>
        <p className="second">{what}</p>
        <div className="row end">
          <button type="button" className="button" onClick={onClose}>
            {t('action.cancel')}
          </button>
          <button
            type="button"
            className="button danger"
            onClick={() => {
              onClose()
              onYes()
            }}
          >
            {action}
          </button>
        </div>
      </div>
    </Dialog>
  )
}
