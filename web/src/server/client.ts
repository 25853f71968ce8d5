// The only module that sends requests. Views use `queries.ts` and `writes.ts`; no other module knows an API path.
import { noteContact } from './contact'
import type { paths } from './schema'

/** A failed request: rejected by the server, or not delivered. */
export class ApiError extends Error {
  /** The HTTP status; 0 if there was no response. */
  readonly status: number
  /** The error code: `not_found`, `invalid_input`, …; `offline` if there was no response. */
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
  }

  /** The invalid field, if the server names one: `agents[0].limits: …`. */
  get field(): string | null {
    if (this.status !== 400) return null
    return /^([A-Za-z_][\w.[\]-]*): /.exec(this.message)?.[1] ?? null
  }
}

export type Query = Record<string, string | number | boolean | null | undefined>

/** A path with its `{names}` filled in and its query appended. Missing query values are omitted. */
export function address(path: string, names: Record<string, string | number> = {}, query: Query = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = names[name]
    if (value === undefined) throw new Error(`${path} requires ${name}`)
    return encodeURIComponent(String(value))
  })
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  }
  const text = search.toString()
  return text === '' ? filled : `${filled}?${text}`
}

/** Sends a request and returns the raw response. `acceptedStatus` is not treated as an error. See `send` for JSON. */
export async function request(url: string, init: RequestInit = {}, acceptedStatus?: number): Promise<Response> {
  let response: Response
  try {
    const headers = { 'Accept-Language': document.documentElement.lang || 'en', ...(init.headers as Record<string, string> | undefined) }
    response = await fetch(url, { credentials: 'same-origin', ...init, headers })
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new ApiError(0, 'offline', 'cannot reach the server')
  }
  // A gateway responds with 502 to 504 for a server that is away.
  if (response.status < 502 || response.status === acceptedStatus) noteContact()
  if (response.ok || response.status === acceptedStatus) return response
  // Not logged in: the server's login page leads back here.
  if (response.status === 401) location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`)
  const body: unknown = await response.json().catch(() => null)
  const answer = body as { error?: unknown; message?: unknown } | null
  const code = typeof answer?.error === 'string' ? answer.error : `http_${response.status}`
  const message = typeof answer?.message === 'string' ? answer.message : code
  throw new ApiError(response.status, code, message)
}

/** Sends a request and returns its JSON response; `null` for 204. */
export async function send<T>(method: string, url: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const init: RequestInit = { method, signal: signal ?? null }
  if (body !== undefined) {
    init.body = JSON.stringify(body)
    init.headers = { 'Content-Type': 'application/json' }
  }
  const response = await request(url, init)
  return (response.status === 204 ? null : await response.json()) as T
}

/** Reads JSON, also from a response with `acceptedStatus`. */
export async function sendOr<T>(acceptedStatus: number, url: string, signal: AbortSignal): Promise<T> {
  return (await (await request(url, { signal }, acceptedStatus)).json()) as T
}

type Operation<P extends keyof paths> = paths[P] extends { get: infer O } ? O : never
type JsonOf<O> = O extends { responses: { 200: { content: { 'application/json': infer A } } } } ? A : never
type ParametersOf<O> = O extends { parameters: { query?: infer Q } } ? NonNullable<Q> : Query
type NamesOf<O> = O extends { parameters: { path: infer N } } ? N : Record<string, never>
type Readable = { [P in keyof paths]: JsonOf<Operation<P>> extends never ? never : P }[keyof paths]

/** The query parameters of a route. */
export type QueryOf<P extends Readable> = ParametersOf<Operation<P>>

/** Reads a documented route. Path, parameters and response are typed by the OpenAPI document. */
export function read<P extends Readable>(
  path: P,
  names: NamesOf<Operation<P>>,
  query: QueryOf<P> | undefined,
  signal?: AbortSignal,
): Promise<JsonOf<Operation<P>>> {
  const url = address(path, names as Record<string, string | number>, (query ?? {}) as Query)
  return send('GET', url, undefined, signal)
}

/** `null` for a 404. */
export async function orNull<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}
