// Lists only boards with a run of a model or agent.
import { type FormEvent, useId, useState } from 'react'
import type { Board } from '@/server/types'
import { useText } from '@/shared/i18n'
import { Icon } from '@/shared/ui/icons'
import { useLeaderboardText } from './texts'

interface Props {
  model: string | undefined
  /** The listed boards, for suggestions. */
  boards: readonly Board[]
  onChange: (model: string | undefined) => void
}

export function ModelFilter({ model, boards, onChange }: Props) {
  const t = useText()
  const words = useLeaderboardText()
  const [typed, setTyped] = useState(model ?? '')
  const id = useId()
  const models = [...new Set(boards.flatMap((board) => board.models))].sort()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onChange(typed.trim() || undefined)
  }
  return (
    <form className="row wrap" role="search" aria-label={t('runs.filter.model')} onSubmit={submit}>
      <input className="input" list={id} maxLength={200} aria-label={t('runs.filter.model')} placeholder={t('runs.filter.model')} value={typed} onChange={(event) => setTyped(event.target.value)} />
      <datalist id={id}>
        {models.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <button type="submit" className="button">
        {words('filter.apply')}
      </button>
      {model !== undefined && (
        <button type="button" className="button plain" onClick={() => onChange(undefined)}>
          <Icon name="close" />
          {words('filter.clear')}
        </button>
      )}
    </form>
  )
}
