// Keeps what is shown of a running job fresh: its stream says that something changed, the cache asks again.
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { ApiError } from './client'
import { readStream, StreamBroken } from './stream'
import { pause } from './wait'

export type Line = 'closed' | 'connecting' | 'live' | 'broken'

/** At most so often is a changing job asked for again. */
const BREATH_MS = 700
/** How long until a broken stream is tried again. */
const AGAIN_MS = 3000

/**
 * Follows a job while it runs, and has what the cache keeps under `key` asked for again when something of it
 * has changed: all that is known of the job, where nothing else is named. Gives the state of its line.
 */
export function useLiveJob(jobId: string, running: boolean, key?: readonly unknown[]): Line {
  const client = useQueryClient()
  const [line, setLine] = useState<Line>('closed')
  const own = useRef(key)
  useEffect(() => {
    own.current = key
  })

  useEffect(() => {
    if (!running) return
    const stop = new AbortController()
    const refresh = () => client.invalidateQueries({ queryKey: own.current ?? ['job', jobId] }, { cancelRefetch: false })
    let waiting: ReturnType<typeof setTimeout> | null = null
    let asking = false
    let dirty = false
    // What is under way is waited for, and what is long in coming is asked for less often: a large run would
    // keep both sides busy, and nothing would ever arrive.
    let breath = BREATH_MS
    const askAgain = async () => {
      waiting = null
      dirty = false
      asking = true
      const began = performance.now()
      await refresh()
      breath = Math.max(BREATH_MS, 3 * (performance.now() - began))
      asking = false
      if (dirty && !stop.signal.aborted) changed()
    }
    const changed = () => {
      dirty = true
      if (!asking) waiting ??= setTimeout(() => void askAgain(), breath)
    }
    const follow = async () => {
      let after: number | null = null
      setLine('connecting')
      while (!stop.signal.aborted) {
        try {
          await readStream(jobId, {
            signal: stop.signal,
            after,
            onOpen: () => setLine('live'),
            onEvent: (event) => {
              if (event.id !== null) after = event.id
              if (event.name !== 'snapshot' && event.name !== 'delta') changed()
            },
          })
          break
        } catch (error) {
          if (stop.signal.aborted) return
          const lost = error instanceof StreamBroken || (error instanceof ApiError && error.status === 0)
          if (!lost && !(error instanceof ApiError && error.status >= 429)) break
          setLine('broken')
          changed()
          await pause(AGAIN_MS, stop.signal).catch(() => undefined)
        }
      }
      if (stop.signal.aborted) return
      setLine('closed')
      await refresh()
      await client.invalidateQueries({ queryKey: ['jobs'] })
    }
    void follow()
    return () => {
      stop.abort()
      if (waiting) clearTimeout(waiting)
    }
  }, [client, jobId, running])

  return running ? line : 'closed'
}
