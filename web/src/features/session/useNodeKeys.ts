import { useEffect } from 'react'
import { isTyping } from '@/shared/keys'
import type { Node } from './desk'

/** `j` and `k` select the next and previous node. */
export function useNodeKeys(nodes: Node[], selected: string | null, select: (scope: string | null) => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (isTyping(event) || (event.key !== 'j' && event.key !== 'k')) return
      const at = nodes.findIndex((node) => node.scope === selected)
      const to = event.key === 'j' ? at + 1 : at < 0 ? nodes.length - 1 : at - 1
      select(nodes[to]?.scope ?? null)
    }
    window.addEventListener('keydown', pressed)
    return () => window.removeEventListener('keydown', pressed)
  })
}
