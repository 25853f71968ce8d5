import { useEffect } from 'react'

/** Sets the document's title, which browser tabs show and screen readers announce. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Papertape`
  }, [title])
}
