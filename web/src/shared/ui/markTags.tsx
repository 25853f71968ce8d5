import type { Mark } from './marks'
import { Tag } from './parts'

export function MarkTags({ marks }: { marks: readonly Mark[] }) {
  return marks.map(({ key, kind, text, title }) => (
    <Tag key={key} {...(kind && { kind })} {...(title !== undefined && { title })}>
      {text}
    </Tag>
  ))
}
