import { type ReactNode, useEffect, useRef } from 'react'
import { useText } from '../i18n'

interface DialogProps {
  className: 'sheet' | 'modal'
  label: string
  onClose: () => void
  children: ReactNode
  /** Marks the command palette, whose key also closes it. */
  marker?: 'palette'
}

/** The native dialog element: traps the focus and restores it on close. */
export function Dialog({ className, label, onClose, children, marker }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const pressTarget = useRef<EventTarget | null>(null)
  useEffect(() => {
    const element = dialog.current
    const previousFocus = document.activeElement
    if (element && !element.open) element.showModal()
    return () => {
      element?.close()
      if (previousFocus instanceof HTMLElement) previousFocus.focus()
    }
  }, [])
  return (
    // A click outside closes the dialog. The browser handles Escape.
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions
    <dialog
      ref={dialog}
      className={className}
      aria-label={label}
      data-palette={marker}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onMouseDown={(event) => {
        pressTarget.current = event.target
      }}
      onClick={(event) => {
        // A drag that ends outside, as when selecting text, is not a click.
        if (event.target === dialog.current && pressTarget.current === dialog.current) onClose()
      }}
    >
      {children}
    </dialog>
  )
}

interface ConfirmProps {
  title: string
  description: string
  /** The label of the confirm button. */
  action: string
  onConfirm: () => void
  onClose: () => void
}

/** Asks for confirmation before an irreversible action. */
export function Confirm({ title, description, action, onConfirm, onClose }: ConfirmProps) {
  const t = useText()
  return (
    <Dialog className="modal" label={title} onClose={onClose}>
      <div className="stack">
        <h2>{title}</h2>
        <p className="second">{description}</p>
        <div className="row end">
          <button type="button" className="button" onClick={onClose}>
            {t('action.cancel')}
          </button>
          <button
            type="button"
            className="button danger"
            onClick={() => {
              onClose()
              onConfirm()
            }}
          >
            {action}
          </button>
        </div>
      </div>
    </Dialog>
  )
}
