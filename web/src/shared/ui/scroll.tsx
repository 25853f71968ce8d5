import type { ReactNode } from 'react'

/** Content that scrolls sideways, reachable by keyboard. */
export function ScrollX({ label, children }: { label: string; children: ReactNode }) {
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="scroll-x" tabIndex={0} role="group" aria-label={label}>
      {children}
    </div>
  )
}
