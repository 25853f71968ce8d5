// The command that starts the same run.
import { useQuery } from '@tanstack/react-query'
import { runCommand } from '@/server/commands'
import type { ExperimentBody } from '@/server/types'
import { useText } from '@/shared/i18n'
import { Command, Note } from '@/shared/ui/states'
import { useSettled } from '@/shared/useSettled'

/** The command follows the form after a pause of this length. */
const PAUSE_MS = 200

interface Props {
  /** `null` while the form is not valid. */
  body: ExperimentBody | null
  /** The request as a command, for what no option of `papertape run` expresses. */
  curl: string
}

export function RunCommand({ body, curl }: Props) {
  const t = useText()
  const query = useQuery(runCommand(useSettled(body && JSON.stringify(body), PAUSE_MS)))
  if (body === null || query.error || query.isPending) return null
  return (
    <Note title={t('new.command')}>
      {query.data === null && <p className="second">{t('new.command.none')}</p>}
      <Command text={query.data ?? curl} />
    </Note>
  )
}
