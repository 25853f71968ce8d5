// Keeps what is shown of a running job fresh: its stream says that something changed, the cache asks again.
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError } from './client'
import { readStream, StreamBroken } from './stream'
import { pause } from './wait'

export type Line = 'closed' | 'connecting' | 'live' | 'broken'

/** At most so often is a changing job asked for again. */
const BREATH_MS = 700
/** How long until a broken stream is tried again. */
const AGAIN_MS = 3000

/** Follows a job while it runs. Gives the state of its line. */
export function useLiveJob(jobId: string, running: boolean): Line {
  const client = useQueryClient()
  const [line, setLine] = useState<Line>('closed')

  useEffect(() => {
    if (!running) return
    const stop = new AbortController()
    let waiting: ReturnType<typeof setTimeout> | null = null
    const changed = () => {
      waiting ??= setTimeout(() => {
        waiting = null
        void client.invalidateQueries({ queryKey: ['job', jobId] })
      }, BREATH_MS)
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
      await client.invalidateQueries({ queryKey: ['job', jobId] })
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
