// The agents ticked in Runs, until they are compared.
import { useSyncExternalStore } from 'react'
import { toggled } from './select'

let ticked: readonly string[] = []
const listeners = new Set<() => void>()

function change(next: readonly string[]): void {
  ticked = next
  for (const listener of listeners) listener()
}

export const tick = (item: string) => change(toggled(ticked, item))
export const clearTicks = () => change([])

export function useTicks(): readonly string[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => ticked,
  )
}
