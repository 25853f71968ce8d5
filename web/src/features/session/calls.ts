// The request and the response of a model call, from the transcript of its node. No React.
import type { Instructions, Message } from '@/server/types'
import { placeOf } from './desk'

export interface CallRequest {
  /** The node's system prompt. */
  system: string | null
  /** The messages of the node before the call, in order. */
  messages: Message[]
}

/** What a call sent: its node's system prompt and every message of the node before it. */
export function requestOf(path: string, messages: Message[], instructions: Instructions[]): CallRequest {
  const { scope } = placeOf(path)
  const own = messages.filter((message) => placeOf(message.path).scope === scope)
  const at = own.findIndex((message) => message.path === path)
  return { system: instructions.find((one) => one.node === scope)?.content ?? null, messages: at < 0 ? own : own.slice(0, at) }
}

/** The message that a call returned; `null` if it failed or has not ended. */
export function responseOf(path: string, messages: Message[]): Message | null {
  return messages.find((message) => message.path === path && message.role === 'assistant') ?? null
}

/** A request as text, for the clipboard. */
export function textOfRequest({ system, messages }: CallRequest): string {
  const parts = messages.map((message) => `## ${message.tool_name ? `tool ${message.tool_name}` : message.role}\n\n${message.content}`)
  return [...(system === null ? [] : [`## system\n\n${system}`]), ...parts].join('\n\n')
}
