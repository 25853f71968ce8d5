import type { Options } from '@/server/types'
import { useText } from '@/shared/i18n'
import { Icon } from '@/shared/ui/icons'
import { Select } from '@/shared/ui/select'
import { type AgentDraft, type Analyst, emptyAgent } from './form'
import css from './runs.module.css'

interface Props {
  agents: AgentDraft[]
  options: Options
  error?: string | undefined
  onChange: (agents: AgentDraft[]) => void
}

const LANGUAGES = [
  { value: 'en', label: 'English' },
  { value: 'zh', label: '中文' },
] as const

const ERROR_ID = 'new-agents-error'

/** The agents of a run: solo agents, desks, or agents of the server's configuration. */
export function AgentFields({ agents, options, error, onChange }: Props) {
  const t = useText()
  const change = (at: number, part: Partial<AgentDraft>) =>
    onChange(agents.map((agent, index) => (index === at ? { ...agent, ...part } : agent)))
  const add = () => {
    const last = agents[agents.length - 1]
    const unused = options.models.find((one) => one.usable && !agents.some((agent) => agent.model === one.model && agent.kind === 'solo'))
    onChange([...agents, emptyAgent(unused?.model ?? '', last?.language ?? 'en', options)])
  }
  return (
    <fieldset className="field">
      <legend>{t('new.agents')}</legend>
      <datalist id="known-models">
        {options.models.map((one) => (
          <option key={one.model} value={one.model}>
            {one.is_llm ? (one.usable ? '' : t('new.model.no.key')) : t('house.tag')}
          </option>
        ))}
      </datalist>
      <div className="stack">
        {agents.map((agent, index) => (
          <Agent key={index} agent={agent} options={options} error={error} removable={agents.length > 1} onChange={(part) => change(index, part)} onRemove={() => onChange(agents.filter((_, at) => at !== index))} />
        ))}
        <div className="row">
          <button type="button" className="button small" disabled={agents.length >= options.max_agents} onClick={add}>
            <Icon name="plus" />
            {t('new.agent.add')}
          </button>
          <span className="hint quiet">{t('new.models.hint')}</span>
        </div>
        {error && (
          <span className="wrong" role="alert" id={ERROR_ID}>
            {error}
          </span>
        )}
      </div>
    </fieldset>
  )
}

interface AgentProps {
  agent: AgentDraft
  options: Options
  error: string | undefined
  removable: boolean
  onChange: (part: Partial<AgentDraft>) => void
  onRemove: () => void
}

function Agent({ agent, options, error, removable, onChange, onRemove }: AgentProps) {
  const t = useText()
  const configured = options.agents.find((one) => one.name === agent.name)
  const kind = agent.kind === 'named' ? `named ${agent.name}` : agent.kind
  const choose = (value: string) => onChange(value.startsWith('named ') ? { kind: 'named', name: value.slice(6) } : { kind: value as 'solo' | 'desk', name: '' })
  const problem = agent.kind === 'named' ? configured?.problem : problemOf(agent.model, options)
  return (
    <div className={css.agentDraft}>
      <div className={css.agentFields}>
        <select className="select" aria-label={t('new.kind')} value={kind} onChange={(event) => choose(event.target.value)}>
          <option value="solo">{t('kind.solo')}</option>
          <option value="desk">{t('kind.desk')}</option>
          {options.agents.length > 0 && (
            <optgroup label={t('new.configured')}>
              {options.agents.map((one) => (
                <option key={one.name} value={`named ${one.name}`}>
                  {one.name}
                </option>
              ))}
            </optgroup>
          )}
        </select>
        {agent.kind === 'named' ? (
          <span className="row second mono clip">{configured ? `${configured.kind} · ${configured.model}` : ''}</span>
        ) : (
          <ModelInput label={t('new.model')} value={agent.model} error={error} onChange={(model) => onChange({ model })} />
        )}
        {agent.kind === 'named' ? (
          <span />
        ) : (
          <Select aria-label={t('new.language')} value={agent.language} choices={LANGUAGES} onChange={(language) => onChange({ language })} />
        )}
        <button type="button" className="button plain" disabled={!removable} aria-label={t('new.agent.remove', { agent: agent.name || agent.model })} onClick={onRemove}>
          <Icon name="close" />
        </button>
      </div>
      {problem && !error && <span className={`hint ${css.warnText}`}>{problem}</span>}
      {agent.kind === 'desk' && <DeskFields agent={agent} options={options} error={error} onChange={onChange} />}
    </div>
  )
}

/** The fields of a desk: its two models, its analysts and its rounds. */
function DeskFields({ agent, options, error, onChange }: Pick<AgentProps, 'agent' | 'options' | 'error' | 'onChange'>) {
  const t = useText()
  const has = (name: Analyst) => agent.analysts.includes(name)
  const toggle = (name: Analyst, on: boolean) => onChange({ analysts: options.analysts.filter((one) => (one === name ? on : has(one))) })
  const quick = problemOf(agent.quick, options)
  const deep = problemOf(agent.deep, options)
  return (
    <div className={`${css.deskFields} stack`}>
      <div className="fields">
        <label className="field">
          <span>{t('new.quick')}</span>
          <ModelInput label={t('new.quick')} value={agent.quick} placeholder={agent.model || 'provider::model'} error={error} onChange={(value) => onChange({ quick: value })} />
          <span className={quick ? `hint ${css.warnText}` : 'hint'}>{quick ?? t('new.quick.hint')}</span>
        </label>
        <label className="field">
          <span>{t('new.deep')}</span>
          <ModelInput label={t('new.deep')} value={agent.deep} placeholder={agent.model || 'provider::model'} error={error} onChange={(value) => onChange({ deep: value })} />
          <span className={deep ? `hint ${css.warnText}` : 'hint'}>{deep ?? t('new.deep.hint')}</span>
        </label>
      </div>
      <div className="row wrap" role="group" aria-label={t('new.analysts')}>
        <span className="second">{t('new.analysts')}</span>
        {options.analysts.map((name) => (
          <label key={name} className="chip">
            <input type="checkbox" checked={has(name)} onChange={(event) => toggle(name, event.target.checked)} />
            {t(`analyst.${name}`)}
          </label>
        ))}
      </div>
      <div className="fields">
        <label className="field">
          <span>{t('new.debate.rounds')}</span>
          <input className="input" inputMode="numeric" value={agent.debateRounds} aria-describedby={error ? ERROR_ID : undefined} onChange={(event) => onChange({ debateRounds: event.target.value })} />
        </label>
        <label className="field">
          <span>{t('new.risk.rounds')}</span>
          <input className="input" inputMode="numeric" value={agent.riskRounds} aria-describedby={error ? ERROR_ID : undefined} onChange={(event) => onChange({ riskRounds: event.target.value })} />
        </label>
      </div>
    </div>
  )
}

interface ModelProps {
  label: string
  value: string
  placeholder?: string
  error: string | undefined
  onChange: (model: string) => void
}

/** A model name: free text with known models as suggestions. */
function ModelInput({ label, value, placeholder = 'provider::model', error, onChange }: ModelProps) {
  const invalid = error !== undefined && (value !== '' || placeholder === 'provider::model')
  return (
    <input
      className="input mono"
      list="known-models"
      aria-label={label}
      placeholder={placeholder}
      value={value}
      spellCheck={false}
      autoComplete="off"
      aria-invalid={invalid ? true : undefined}
      aria-describedby={invalid ? ERROR_ID : undefined}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

/** Why the model's provider cannot be used, if known. */
function problemOf(model: string, options: Options): string | null | undefined {
  const [provider] = model.split('::')
  return options.providers.find((one) => one.provider === provider)?.problem
}
