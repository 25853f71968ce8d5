// What the trader of this session was given of its memory, to the letter.
import type { GivenMemory } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { Tag } from '@/shared/ui/parts'
import { Empty, Failed, Loading } from '@/shared/ui/states'

export function MemoryGiven({ given, error }: { given: GivenMemory[] | undefined; error: Error | null }) {
  const t = useText()
  const format = useFormat()
  if (error && !given) return <Failed error={error} />
  if (!given) return <Loading />
  if (given.every((one) => one.items.length === 0)) {
    return (
      <Empty title={t('memory.given.none')}>
        <p className="second">{t('memory.given.none.why')}</p>
      </Empty>
    )
  }
  return (
    <div className="panel-body stack tall">
      {given.map((one) => (
        <section key={one.path} className="stack">
          <h3 className="mono">{one.path}</h3>
          {one.items.map((item) => (
            <article key={`${item.memory_type} ${item.memory_id}`} className="memory-item">
              <div className="row wrap">
                <Tag>{item.memory_type}</Tag>
                <span className="mono quiet">{item.memory_id}</span>
                <span className="quiet">{t('shown.known', { at: format.instant(item.known_at) })}</span>
                {item.job_id && <Tag>{t('memory.given.from', { job: item.job_id.slice(0, 8) })}</Tag>}
              </div>
              <pre>{item.text}</pre>
            </article>
          ))}
          <details>
            <summary className="second">{t('memory.given.whole')}</summary>
            <pre>{one.text}</pre>
          </details>
        </section>
      ))}
    </div>
  )
}
