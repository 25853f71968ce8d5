/** A line of values without axes; what it shows stands beside it as a figure. */
export function Sparkline({ values, tone, width = 92, height = 20 }: { values: number[]; tone: string; width?: number; height?: number }) {
  if (values.length < 2) return <svg width={width} height={height} aria-hidden="true" />
  const least = Math.min(...values, values[0] ?? 0)
  const most = Math.max(...values)
  const span = most - least || 1
  const y = (value: number) => height - 2 - ((value - least) / span) * (height - 4)
  // Two points a pixel are all that can be seen.
  const step = Math.max(1, Math.floor(values.length / (width * 2)))
  const shown = values.filter((_, index) => index % step === 0 || index === values.length - 1)
  const x = (index: number) => (index / (shown.length - 1)) * (width - 2) + 1
  const path = shown.map((value, index) => `${index === 0 ? 'M' : 'L'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`).join('')
  return (
    <svg className={`spark ${tone}`} width={width} height={height} aria-hidden="true">
      <path className="spark-zero" d={`M0 ${y(values[0] ?? 0).toFixed(1)}H${width}`} />
      <path d={path} />
    </svg>
  )
}
