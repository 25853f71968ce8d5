import { useEffect, useState } from 'react'

/** The value, once it has not changed for a while. `null` at once. */
export function useSettled(value: string | null, ms: number): string | null {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return value === null ? null : settled
}
