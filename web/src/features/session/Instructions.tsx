import { useText } from '@/shared/i18n'
import { FoldedText } from '@/transcript/MessageText'
import css from './session.module.css'

interface Props {
  instructions: { node: string; content: string }[]
  /** The selected node; `null` if none is selected. */
  node: string | null
}

/** The system prompt, which is stored once per node. */
export function Instructions({ instructions, node }: Props) {
  const t = useText()
  const own = node === null ? undefined : instructions.find((one) => one.node === node)
  if (!own) return null
  return (
    <details className={css.instructions}>
      <summary>{t('session.instructions')}</summary>
      <FoldedText text={own.content} />
    </details>
  )
}
