import { useEffect, useState } from 'react'

/** The current time, updated often enough for texts such as "3m ago". */
export function useNow(everyMs = 20_000): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}
