import { type ReactNode, useId, useState } from 'react'
import { Icon } from './icons'

const KEY = 'papertape.folds'

function stored(): Record<string, boolean> {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}')
    return typeof found === 'object' && found !== null ? { ...found } : {}
  } catch {
    return {}
  }
}

interface Props {
  /** Under this name, the browser stores whether it is open. */
  name: string
  title: string
  /** Whether it is open until the user decides. */
  opens: boolean
  /** Next to the title. */
  tools?: ReactNode
  children: ReactNode
}

/** A panel that folds away. */
export function FoldPanel({ name, title, opens, tools, children }: Props) {
  const id = useId()
  const [chosen, setChosen] = useState(() => stored()[name])
  const open = chosen ?? opens
  const toggle = () => {
    setChosen(!open)
    try {
      localStorage.setItem(KEY, JSON.stringify({ ...stored(), [name]: !open }))
    } catch {
      // Without storage, it applies until the page is closed.
    }
  }
  return (
    <section className="panel" aria-label={title}>
      <div className="panel-head">
        <button type="button" className="fold" aria-expanded={open} aria-controls={id} onClick={toggle}>
          <Icon name={open ? 'down' : 'right'} />
          <h2>{title}</h2>
        </button>
        {open && tools}
      </div>
      <div id={id} hidden={!open}>
        {open && children}
      </div>
    </section>
  )
}
