import { useText } from '@/shared/i18n'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { Transcript } from '@/transcript/Transcript'
import { placeOf, singleScope } from './desk'
import { Instructions } from './Instructions'
import type { Reading } from './useReading'

/** The messages of the selected node, or of all. */
export function ConversationView({ reading: { table, conversation, desk, search, running, select } }: { reading: Reading }) {
  const t = useText()
  const { visible, remaining, error, retry } = conversation
  const at = search.at
  const node = desk.selected ?? (desk.isDesk ? null : singleScope(table, conversation.instructions.map((one) => one.node)))
  const index = at !== undefined && /^\d+$/.test(at) ? Number(at) : null
  return (
    <>
      <Instructions instructions={conversation.instructions} node={node} />
      {conversation.isPending ? (
        <Loading rows={8} />
      ) : error && conversation.total === 0 ? (
        <Failed error={error} retry={retry} />
      ) : visible.length === 0 && remaining === 0 ? (
        <Empty title={desk.selected ? t('node.silent') : t('session.silent')} />
      ) : (
        <Transcript
          key={desk.selected ?? ''}
          messages={visible}
          remaining={remaining}
          error={error}
          onRetry={retry}
          showsNodes={desk.isDesk && desk.selected === null}
          follows={running && at === undefined}
          focusPath={at}
          focusIndex={index}
          onPath={(path) => select(placeOf(path).scope)}
        />
      )}
    </>
  )
}
