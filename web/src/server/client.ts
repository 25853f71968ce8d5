// The one place where requests are made. Everything above it calls functions of `queries.ts` and
// `actions.ts`; nothing else of the pages knows a path.
import type { paths } from './schema'

/** What the server, or the way to it, refused. */
export class ApiError extends Error {
  /** The HTTP status; 0: no answer came at all. */
  readonly status: number
  /** For programs: `not_found`, `invalid_input`, …; `offline` where no answer came. */
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
  }

  /** The field that is wrong, where the server names one: `agents[0].limits: …`. */
  get field(): string | null {
    if (this.status !== 400) return null
    return /^([A-Za-z_][\w.[\]-]*): /.exec(this.message)?.[1] ?? null
  }
}

export type Query = Record<string, string | number | boolean | null | undefined>

/** A path with its `{names}` filled in and its query behind it. Values that are not there are left out. */
export function address(path: string, names: Record<string, string | number> = {}, query: Query = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = names[name]
    if (value === undefined) throw new Error(`${path} wants ${name}`)
    return encodeURIComponent(String(value))
  })
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  }
  const text = search.toString()
  return text === '' ? filled : `${filled}?${text}`
}

/** Sends a request. The answer may be anything: see `send` for JSON. A status may be named that is no refusal. */
export async function ask(url: string, init: RequestInit = {}, alsoGood?: number): Promise<Response> {
  let response: Response
  try {
    const headers = { 'Accept-Language': document.documentElement.lang || 'en', ...(init.headers as Record<string, string> | undefined) }
    response = await fetch(url, { credentials: 'same-origin', ...init, headers })
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new ApiError(0, 'offline', 'the server cannot be reached')
  }
  if (response.ok || response.status === alsoGood) return response
  // Who is not known logs in, on a page of the server's own, and comes back here.
  if (response.status === 401) location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`)
  const body: unknown = await response.json().catch(() => null)
  const said = body as { error?: unknown; message?: unknown } | null
  const code = typeof said?.error === 'string' ? said.error : `http_${response.status}`
  const message = typeof said?.message === 'string' ? said.message : code
  throw new ApiError(response.status, code, message)
}

/** Sends a request and reads its JSON answer; `null` where there is no content. */
export async function send<T>(method: string, url: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const init: RequestInit = { method, signal: signal ?? null }
  if (body !== undefined) {
    init.body = JSON.stringify(body)
    init.headers = { 'Content-Type': 'application/json' }
  }
  const response = await ask(url, init)
  return (response.status === 204 ? null : await response.json()) as T
}

/** Reads JSON, also of an answer with this status. */
export async function sendOr<T>(alsoGood: number, url: string, signal: AbortSignal): Promise<T> {
  return (await (await ask(url, { signal }, alsoGood)).json()) as T
}

type Operation<P extends keyof paths> = paths[P] extends { get: infer O } ? O : never
type JsonOf<O> = O extends { responses: { 200: { content: { 'application/json': infer A } } } } ? A : never
type QueryOf<O> = O extends { parameters: { query?: infer Q } } ? NonNullable<Q> : Query
type NamesOf<O> = O extends { parameters: { path: infer N } } ? N : Record<string, never>
type Readable = { [P in keyof paths]: JsonOf<Operation<P>> extends never ? never : P }[keyof paths]

/** Reads one of the documented routes: paths, parameters and the answer are those of the document. */
export function read<P extends Readable>(
  path: P,
  names: NamesOf<Operation<P>>,
  query: QueryOf<Operation<P>> | undefined,
  signal?: AbortSignal,
): Promise<JsonOf<Operation<P>>> {
  const url = address(path, names as Record<string, string | number>, (query ?? {}) as Query)
  return send('GET', url, undefined, signal)
}
