// What a turn of the assistant is writing, as it writes it. It may be lost: the message that follows counts.
import { useEffect, useRef, useState } from 'react'
import { ApiError } from './client'
import { readStream, StreamBroken } from './stream'
import { pause } from './wait'

/** How long until a broken stream is tried again. */
const AGAIN_MS = 3000

/** The text so far of a job's answer; `changed` is called when something of it is kept, or the job has ended. */
export function useDelta(jobId: string | null, changed: () => void): string {
  const [written, setWritten] = useState({ jobId, text: '' })
  const told = useRef(changed)
  useEffect(() => {
    told.current = changed
  })
  useEffect(() => {
    if (jobId === null) return
    const stop = new AbortController()
    const follow = async () => {
      let after: number | null = null
      for (;;) {
        try {
          await readStream(jobId, {
            signal: stop.signal,
            after,
            onEvent: (event) => {
              if (event.id !== null) after = event.id
              if (event.name === 'delta') {
                const more = (event.event as { text?: unknown } | null)?.text
                if (typeof more === 'string') setWritten((now) => ({ jobId, text: now.jobId === jobId ? now.text + more : more }))
              } else if (event.name === 'message') {
                setWritten({ jobId, text: '' })
                told.current()
              }
            },
          })
          return
        } catch (error) {
          const broken = error instanceof StreamBroken || (error instanceof ApiError && error.status === 0)
          if (stop.signal.aborted || !broken) return
          await pause(AGAIN_MS, stop.signal)
        }
      }
    }
    follow()
      .catch(() => undefined)
      .finally(() => {
        if (!stop.signal.aborted) told.current()
      })
    return () => stop.abort()
  }, [jobId])
  return written.jobId === jobId ? written.text : ''
}
