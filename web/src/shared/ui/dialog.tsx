import { type ReactNode, useEffect, useRef } from 'react'

interface DialogProps {
  className: 'sheet' | 'modal'
  label: string
  onClose: () => void
  children: ReactNode
}

/** The browser's own dialog: it keeps the focus inside, and gives it back. */
export function Dialog({ className, label, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
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
      onClick={(event) => {
        if (event.target === dialog.current) onClose()
      }}
    >
      {children}
    </dialog>
  )
}
