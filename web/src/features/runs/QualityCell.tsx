// What qualifies the results of a run: a line per agent, then the marks of all of them.
import type { Job, RangeResult } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { costMarks, type Mark, maskedMarks, resultMarks } from '@/shared/ui/marks'
import { MarkTags } from '@/shared/ui/markTags'
import { JobQualityTag, QualityShare } from '@/shared/ui/quality'
import css from './runs.module.css'

interface Props {
  job: Job
  results: RangeResult[] | undefined
  placeholder: string
}

export function QualityCell({ job, results, placeholder }: Props) {
  const t = useText()
  const format = useFormat()
  const agents = job.simulation?.agents ?? []
  const resultOf = (agent: string) => results?.find((one) => one.model === agent)
  const marked = agents.map(({ name }) => {
    const result = resultOf(name)
    return { agent: name, marks: result ? resultMarks(result, t, format) : [] }
  })
  const joined = joinMarks(marked)
  // Without results, the run still says that it is masked.
  const masked = joined.some((mark) => mark.key === 'masked') ? [] : maskedMarks(job.simulation?.masked?.mask, t)
  return (
    <>
      {agents.map(({ name }) => {
        const result = resultOf(name)
        return (
          <span key={name} className={css.line}>
            {result ? <QualityShare full={result.full_research.days} total={result.full_research.total_days} first={result.provenance.reasons[0]} /> : <span className="quiet">{placeholder}</span>}
          </span>
        )
      })}
      <span className={css.marks}>
        <MarkTags marks={[...joined, ...masked]} />
        <JobQualityTag quality={job.quality} />
        <span className={css.costMark}>
          <MarkTags marks={costMarks(job.usage.cost_usd == null, t)} />
        </span>
      </span>
    </>
  )
}

/** Each mark once. One that not all agents have says how many do; its explanation names them. */
export function joinMarks(marked: readonly { agent: string; marks: readonly Mark[] }[]): Mark[] {
  const texts = new Map<string, { mark: Mark; agents: Set<string>; titles: Map<string, string[]> }>()
  for (const { agent, marks } of marked) {
    for (const mark of marks) {
      const found = texts.get(mark.text) ?? { mark, agents: new Set(), titles: new Map() }
      found.agents.add(agent)
      const title = mark.title ?? mark.text
      const named = found.titles.get(title) ?? []
      found.titles.set(title, named.includes(agent) ? named : [...named, agent])
      texts.set(mark.text, found)
    }
  }
  return [...texts.values()].map(({ mark, agents, titles }) => {
    const isOfAll = agents.size === marked.length
    const title = [...titles].map(([text, named]) => (isOfAll && titles.size === 1 ? text : `${named.join(', ')}: ${text}`)).join('\n')
    return { ...mark, text: isOfAll ? mark.text : `${mark.text} (${agents.size}/${marked.length})`, title }
  })
}
