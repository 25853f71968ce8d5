import css from './diff.module.css'

const KINDS: Record<string, string | undefined> = { '-': css.removed, '+': css.added, '@': css.place }

/** A unified diff, line by line. The marks are part of the lines, so color is not the only signal. */
export function DiffLines({ lines }: { lines: readonly string[] }) {
  return (
    // A scrollable region must be reachable by keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre className={css.diff} tabIndex={0}>
      {lines.map((line, index) => (
        <span key={index} className={KINDS[line[0] ?? '']}>
          {line}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}
