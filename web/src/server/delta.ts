// The text that the assistant is writing. Deltas may be lost; the message that follows is authoritative.
import { useEffect, useRef, useState } from 'react'
import { ApiError } from './client'
import { readStream, StreamBroken } from './stream'
import { pause } from './wait'

/** How long to wait before reconnecting a broken stream. */
const RETRY_MS = 3000

/** The text of a job's answer so far. Calls `changed` when a message is stored or the job has ended. */
export function useDelta(jobId: string | null, changed: () => void): string {
  const [written, setWritten] = useState({ jobId, text: '' })
  const onChange = useRef(changed)
  useEffect(() => {
    onChange.current = changed
  })
  useEffect(() => {
    if (jobId === null) return
    const stop = new AbortController()
    const follow = async () => {
      let after: number | string | null = null
      for (;;) {
        try {
          await readStream(jobId, {
            signal: stop.signal,
            after,
            onEvent: (event) => {
              if (event.id !== null) after = event.id
              if (event.name === 'delta') {
                const delta = (event.event as { text?: unknown } | null)?.text
                if (typeof delta === 'string') setWritten((now) => ({ jobId, text: now.jobId === jobId ? now.text + delta : delta }))
              } else if (event.name === 'message') {
                setWritten({ jobId, text: '' })
                onChange.current()
              }
            },
          })
          return
        } catch (error) {
          const broken = error instanceof StreamBroken || (error instanceof ApiError && error.status === 0)
          if (stop.signal.aborted || !broken) return
          await pause(RETRY_MS, stop.signal)
        }
      }
    }
    follow()
      .catch(() => undefined)
      .finally(() => {
        if (!stop.signal.aborted) onChange.current()
      })
    return () => stop.abort()
  }, [jobId])
  return written.jobId === jobId ? written.text : ''
}
