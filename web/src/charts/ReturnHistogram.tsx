// How often each size of return occurred.
import { useRef } from 'react'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { ExportMenu } from '@/shared/ui/exportMenu'
import type { Bin } from './histogram'

const WIDTH = 480
const HEIGHT = 150
const LEFT = 30
const BOTTOM = 18
const TOP = 8
const MAX_BAR = 48

export function ReturnHistogram({ label, name, bins }: { label: string; name: string; bins: Bin[] }) {
  const t = useText()
  const format = useFormat()
  const drawn = useRef<SVGSVGElement>(null)
  const max = Math.max(1, ...bins.map((bin) => bin.count))
  const step = Math.min(MAX_BAR, (WIDTH - LEFT) / Math.max(1, bins.length))
  const y = (count: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - count / max)
  const digits = (bins[0] ? bins[0].to - bins[0].from : 1) < 0.001 ? 2 : 1
  // As many labels as fit.
  const every = Math.max(1, Math.ceil(52 / step))
  const zero = bins.findIndex((bin) => Math.abs(bin.from) < 1e-12)
  return (
    <figure>
      <div className="chart-tools row">
        <ExportMenu what={label} name={name} csv={() => ({ columns: ['return_from', 'return_to', 'days', 'zero_days'], rows: bins.map((bin) => [bin.from, bin.to, bin.count, bin.zeros]) })} image={() => drawn.current} />
      </div>
      <svg ref={drawn} className="histogram" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
        <text x={LEFT - 5} y={y(max) + 4} className="tick end">
          {format.count(max)}
        </text>
        <text x={LEFT - 5} y={y(0)} className="tick end">
          0
        </text>
        <path className="axis" d={`M${LEFT} ${y(0)}H${WIDTH}`} />
        {bins.map((bin, index) => (
          <g key={bin.from}>
            <rect className={bin.from >= 0 ? 'gain' : 'loss'} x={LEFT + index * step + 0.5} width={Math.max(0.5, step - 1)} y={y(bin.count)} height={y(0) - y(bin.count)}>
              <title>{t('history.bin', { from: format.change(bin.from, digits), to: format.change(bin.to, digits), count: bin.count })}</title>
            </rect>
            {bin.zeros > 0 && (
              <rect className="even" x={LEFT + index * step + 0.5} width={Math.max(0.5, step - 1)} y={y(bin.zeros)} height={y(0) - y(bin.zeros)}>
                <title>{t('history.bin.zero', { count: bin.zeros })}</title>
              </rect>
            )}
            {(zero < 0 ? index % every === 0 : (index - zero) % every === 0) && (
              <text x={LEFT + index * step} y={HEIGHT - 4} className="tick middle">
                {format.change(bin.from, digits)}
              </text>
            )}
          </g>
        ))}
      </svg>
    </figure>
  )
}
