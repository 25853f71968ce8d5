import css from './session.module.css'

/** The numbers that decided. */
export function Numbers({ numbers }: { numbers: Record<string, unknown> | null | undefined }) {
  const entries = Object.entries(numbers ?? {})
  if (entries.length === 0) return null
  return (
    <div className={`${css.numbers} mono second`}>
      {entries.map(([name, value]) => (
        <span key={name}>
          {name} {String(value)}
        </span>
      ))}
    </div>
  )
}
