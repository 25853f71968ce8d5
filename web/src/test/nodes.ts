// The nodes of a session, as `GET /simulate/options` lists them.
import { nodeTable } from '@/features/session/desk'
import type { NodeRule } from '@/server/types'

const node = (name: string, phase: string, order: number, llm: string | null = null, decides = false): NodeRule => ({ name, phase, order, llm, decides })

export const NODES: NodeRule[] = [
  node('pre', 'books', 0),
  node('solo', 'solo', 1, null, true),
  node('external', 'external', 2, null, true),
  node('Market Analyst', 'analyst', 3, 'quick'),
  node('News Analyst', 'analyst', 4, 'quick'),
  node('Bull Researcher', 'research', 5, 'quick'),
  node('Bear Researcher', 'research', 5, 'quick'),
  node('Research Manager', 'research', 6, 'deep'),
  node('Trader', 'trading', 7, 'quick'),
  node('Neutral Analyst', 'risk', 8, 'quick'),
  node('Portfolio Manager', 'portfolio', 9, 'deep', true),
  node('sizing', 'orders', 10),
  node('bar', 'books', 11),
  node('close', 'books', 12),
  node('post', 'memory', 13),
]

export const TABLE = nodeTable(NODES)
