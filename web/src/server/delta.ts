// What a turn of the assistant is writing, as it writes it. It may be lost: the message that follows counts.
import { useEffect, useRef, useState } from 'react'
import { readStream } from './stream'

/** The text so far of a job's answer; `ended` is called when the job has come to its end. */
export function useDelta(jobId: string | null, ended: () => void): string {
  const [written, setWritten] = useState({ jobId, text: '' })
  const told = useRef(ended)
  useEffect(() => {
    told.current = ended
  })
  useEffect(() => {
    if (jobId === null) return
    const stop = new AbortController()
    const read = readStream(jobId, {
      signal: stop.signal,
      onEvent: (event) => {
        if (event.name === 'delta') {
          const more = (event.event as { text?: unknown } | null)?.text
          if (typeof more === 'string') setWritten((now) => ({ jobId, text: now.jobId === jobId ? now.text + more : more }))
        } else if (event.name === 'message') {
          setWritten({ jobId, text: '' })
          told.current()
        }
      },
    })
    read.catch(() => undefined).finally(() => {
      if (!stop.signal.aborted) told.current()
    })
    return () => stop.abort()
  }, [jobId])
  return written.jobId === jobId ? written.text : ''
}
