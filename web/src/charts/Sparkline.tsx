/** A line chart without axes. The numbers are in the cells next to it. */
export function Sparkline({ values, tone, width = 92, height = 20 }: { values: number[]; tone: string; width?: number; height?: number }) {
  if (values.length < 2) return <svg width={width} height={height} aria-hidden="true" />
  const min = Math.min(...values, values[0] ?? 0)
  const max = Math.max(...values)
  const span = max - min || 1
  const y = (value: number) => height - 2 - ((value - min) / span) * (height - 4)
  // More than two points per pixel are not visible.
  const step = Math.max(1, Math.floor(values.length / (width * 2)))
  const sampled = values.filter((_, index) => index % step === 0 || index === values.length - 1)
  const x = (index: number) => (index / (sampled.length - 1)) * (width - 2) + 1
  const path = sampled.map((value, index) => `${index === 0 ? 'M' : 'L'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`).join('')
  return (
    <svg className={`spark ${tone}`} width={width} height={height} aria-hidden="true">
      <path className="spark-zero" d={`M0 ${y(values[0] ?? 0).toFixed(1)}H${width}`} />
      <path d={path} />
    </svg>
  )
}
