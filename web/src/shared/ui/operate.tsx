import type { ReactNode } from 'react'
import { useCanOperate } from '../access'

/** Controls that change something. A read-only token does not see them. */
export function Operate({ children }: { children: ReactNode }) {
  return useCanOperate() ? children : null
}
