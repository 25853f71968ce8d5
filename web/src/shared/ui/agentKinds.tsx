import { useText } from '../i18n'
import { HouseTag, Tag } from './parts'

/** More agents than this are counted, not listed. */
const MAX_LISTED = 4

/** Each agent of a run, and whether rules or a language model decide for it. */
export function AgentKinds({ agents }: { agents: readonly { name: string; is_llm: boolean }[] }) {
  const t = useText()
  return (
    <>
      {agents.slice(0, MAX_LISTED).map((agent) => (
        <span key={agent.name} className="row" title={t(agent.is_llm ? 'agent.llm.what' : 'agent.rule.what', { agent: agent.name })}>
          {agent.name} {agent.is_llm ? <Tag>{t('agent.llm')}</Tag> : <HouseTag isLlm={false} />}
        </span>
      ))}
      {agents.length > MAX_LISTED && <span title={agents.slice(MAX_LISTED).map((agent) => t(agent.is_llm ? 'agent.llm.what' : 'agent.rule.what', { agent: agent.name })).join('\n')}>{t('agents.more', { count: agents.length - MAX_LISTED })}</span>}
    </>
  )
}
