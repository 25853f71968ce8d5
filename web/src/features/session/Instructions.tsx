import { useText } from '@/shared/i18n'
import { Folding } from '@/transcript/Said'

interface Props {
  instructions: { node: string; content: string }[]
  /** The node whose instructions these are; `null`: nobody in particular. */
  node: string | null
}

/** The system prompt, which is kept once for each node. */
export function Instructions({ instructions, node }: Props) {
  const t = useText()
  const own = node === null ? undefined : instructions.find((one) => one.node === node)
  if (!own) return null
  return (
    <details className="instructions">
      <summary>{t('session.instructions')}</summary>
      <Folding text={own.content} />
    </details>
  )
}
