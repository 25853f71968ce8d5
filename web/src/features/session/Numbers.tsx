// The numbers that decided about an order.
export function Numbers({ numbers }: { numbers: Record<string, unknown> | null | undefined }) {
  const entries = Object.entries(numbers ?? {})
  if (entries.length === 0) return null
  return (
    <div className="numbers mono second">
      {entries.map(([name, value]) => (
        <span key={name}>
          {name} {String(value)}
        </span>
      ))}
    </div>
  )
}
