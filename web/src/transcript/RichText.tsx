// The Markdown that models commonly write: headings, lists, bold, code, tables. Everything is rendered as text: no HTML,
// no images, no links.
import { createContext, Fragment, type ReactNode, useContext } from 'react'

/** Renders a job ID as a link; without it, the ID stays text. */
type IdLink = ((id: string) => ReactNode) | undefined
const LinkOfIds = createContext<IdLink>(undefined)

/** `**bold**`, `` `code` `` and job IDs within a line. */
export function inline(text: string, link?: IdLink): ReactNode[] {
  const parts: ReactNode[] = []
  const pattern = /\*\*([^*\n]+)\*\*|`([^`\n]+)`|\b([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/g
  let end = 0
  for (const found of text.matchAll(pattern)) {
    if (found.index > end) parts.push(text.slice(end, found.index))
    const key = found.index
    if (found[1] !== undefined) parts.push(<strong key={key}>{found[1]}</strong>)
    else if (found[2] !== undefined) parts.push(<code key={key}>{found[2]}</code>)
    else if (found[3] !== undefined) parts.push(link ? <Fragment key={key}>{link(found[3])}</Fragment> : found[3])
    end = found.index + found[0].length
  }
  if (end < text.length) parts.push(text.slice(end))
  return parts
}

type Block =
  | { kind: 'heading' | 'text' | 'code'; lines: string[] }
  | { kind: 'list'; lines: string[]; ordered: boolean; numbers: number[] }
  | { kind: 'table'; lines: string[] }

export function blocks(text: string): Block[] {
  const found: Block[] = []
  const last = () => found[found.length - 1]
  let fenced = false
  for (const line of text.split('\n')) {
    if (/^\s*```/.test(line)) {
      fenced = !fenced
      if (fenced) found.push({ kind: 'code', lines: [] })
      continue
    }
    const current = last()
    if (fenced && current) {
      current.lines.push(line)
    } else if (line.trim() === '') {
      found.push({ kind: 'text', lines: [] })
    } else if (/^#{1,6} /.test(line)) {
      found.push({ kind: 'heading', lines: [line.replace(/^#+ /, '')] })
    } else if (/^\s*([-*•]|\d{1,3}[.)]) /.test(line)) {
      const ordered = /^\s*\d/.test(line)
      if (current?.kind !== 'list' || current.ordered !== ordered) found.push({ kind: 'list', ordered, lines: [], numbers: [] })
      const list = last()
      list?.lines.push(line.replace(/^\s*([-*•]|\d{1,3}[.)]) /, ''))
      // Keep the original numbers, which may start anywhere.
      if (list?.kind === 'list') list.numbers.push(Number(/\d+/.exec(line)?.[0] ?? 0))
    } else if (/^\|.*\|\s*$/.test(line)) {
      if (current?.kind !== 'table') found.push({ kind: 'table', lines: [] })
      last()?.lines.push(line)
    } else if (current?.kind === 'text') {
      current.lines.push(line)
    } else {
      found.push({ kind: 'text', lines: [line] })
    }
  }
  return found.filter((block) => block.lines.length > 0)
}

export function RichText({ text, link }: { text: string; link?: IdLink }) {
  return (
    <LinkOfIds value={link}>
      <div className="rich">
        {blocks(text).map((block, index) => (
          <BlockView key={index} block={block} />
        ))}
      </div>
    </LinkOfIds>
  )
}

function Inline({ text }: { text: string }) {
  return inline(text, useContext(LinkOfIds))
}

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case 'heading':
      return <p className="rich-heading"><Inline text={block.lines.join(' ')} /></p>
    case 'code':
      return <pre>{block.lines.join('\n')}</pre>
    case 'list': {
      const items = block.lines.map((line, index) => (
        <li key={index} value={block.ordered ? block.numbers[index] : undefined}>
          <Inline text={line} />
        </li>
      ))
      return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>
    }
    case 'table':
      return <TextTable lines={block.lines} />
    default:
      return (
        <p>
          {block.lines.map((line, index) => (
            <Fragment key={index}>
              {index > 0 && <br />}
              <Inline text={line} />
            </Fragment>
          ))}
        </p>
      )
  }
}

function TextTable({ lines }: { lines: string[] }) {
  const rows = lines
    .filter((line) => !/^\|[\s:|-]+\|\s*$/.test(line))
    .map((line) => line.trim().slice(1, -1).split('|'))
  const [head, ...rest] = rows
  return (
    <div className="scroll-x">
      <table className="grid-table">
        <thead>
          <tr>
            {head?.map((cell, index) => (
              <th key={index}><Inline text={cell.trim()} /></th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rest.map((row, index) => (
            <tr key={index}>
              {row.map((cell, at) => (
                <td key={at}><Inline text={cell.trim()} /></td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
