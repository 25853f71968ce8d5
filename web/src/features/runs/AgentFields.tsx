import { useText } from '@/shared/i18n'
import { Icon } from '@/shared/ui/icons'
import { type AgentDraft, HOUSE_MODELS } from './form'

interface Props {
  agents: AgentDraft[]
  wrong?: string | undefined
  onChange: (agents: AgentDraft[]) => void
}

/** The agents of a run: one conversation each, or a desk of roles. */
export function AgentFields({ agents, wrong, onChange }: Props) {
  const t = useText()
  const change = (at: number, part: Partial<AgentDraft>) =>
    onChange(agents.map((agent, index) => (index === at ? { ...agent, ...part } : agent)))
  const add = () => {
    const last = agents[agents.length - 1]
    const free = HOUSE_MODELS.find((model) => !agents.some((agent) => agent.model === model && agent.kind === 'solo'))
    onChange([...agents, { kind: 'solo', model: free ?? '', language: last?.language ?? 'en' }])
  }
  return (
    <fieldset className="field">
      <legend>{t('new.agents')}</legend>
      <datalist id="house-models">
        {HOUSE_MODELS.map((model) => (
          <option key={model} value={model}>
            {t('house.tag')}
          </option>
        ))}
      </datalist>
      <div className="stack">
        {agents.map((agent, index) => (
          <div className="agent-fields" key={index}>
            <select className="select" aria-label={t('new.kind')} value={agent.kind} onChange={(event) => change(index, { kind: event.target.value as AgentDraft['kind'] })}>
              <option value="solo">{t('kind.solo')}</option>
              <option value="desk">{t('kind.desk')}</option>
            </select>
            <input
              className="input mono"
              list="house-models"
              aria-label={t('new.model')}
              placeholder="provider::model"
              value={agent.model}
              aria-invalid={wrong ? true : undefined}
              onChange={(event) => change(index, { model: event.target.value })}
            />
            <select className="select" aria-label={t('new.language')} value={agent.language} onChange={(event) => change(index, { language: event.target.value as AgentDraft['language'] })}>
              <option value="en">English</option>
              <option value="zh">中文</option>
            </select>
            <button type="button" className="button plain" disabled={agents.length === 1} aria-label={t('new.agent.remove', { agent: agent.model })} onClick={() => onChange(agents.filter((_, at) => at !== index))}>
              <Icon name="close" />
            </button>
          </div>
        ))}
        <div className="row">
          <button type="button" className="button small" onClick={add}>
            <Icon name="plus" />
            {t('new.agent.add')}
          </button>
          <span className="hint quiet">{t('new.models.hint')}</span>
        </div>
        {wrong && (
          <span className="wrong" role="alert">
            {wrong}
          </span>
        )}
      </div>
    </fieldset>
  )
}
