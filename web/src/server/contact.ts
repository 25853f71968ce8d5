// When the server was last heard from, by any request or stream: a slow check does not mean that it is away.

const listeners = new Set<() => void>()

/** Reports that the server has responded, or has sent a part of a stream. */
export function noteContact(): void {
  for (const listener of listeners) listener()
}

/** Calls the listener at each contact, until the returned function is called. */
export function onContact(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
