// A band between two values, which Lightweight Charts does not have.
import { type CustomData, type CustomSeriesOptions, type CustomSeriesPricePlotValues, customSeriesDefaultOptions, type ICustomSeriesPaneRenderer, type ICustomSeriesPaneView, type PaneRendererCustomData, type PriceToCoordinateConverter, type Time, type WhitespaceData } from 'lightweight-charts'

interface BandData extends CustomData<Time> {
  low: number
  high: number
}

interface BandOptions extends CustomSeriesOptions {
  fill: string
}

type Target = Parameters<ICustomSeriesPaneRenderer['draw']>[0]

export class Band implements ICustomSeriesPaneView<Time, BandData, BandOptions> {
  private data: PaneRendererCustomData<Time, BandData> | null = null
  private fill = ''

  renderer(): ICustomSeriesPaneRenderer {
    return { draw: (target, convert) => this.draw(target, convert) }
  }

  update(data: PaneRendererCustomData<Time, BandData>, options: BandOptions): void {
    this.data = data
    this.fill = options.fill
  }

  priceValueBuilder({ low, high }: BandData): CustomSeriesPricePlotValues {
    return [low, high, (low + high) / 2]
  }

  isWhitespace(data: BandData | WhitespaceData<Time>): data is WhitespaceData<Time> {
    return !('low' in data)
  }

  defaultOptions(): BandOptions {
    return { ...customSeriesDefaultOptions, fill: 'transparent' }
  }

  private draw(target: Target, convert: PriceToCoordinateConverter): void {
    const { data } = this
    const range = data?.visibleRange
    if (!data || !range) return
    const edges = data.bars.slice(Math.max(0, range.from - 1), range.to + 1).flatMap(({ x, originalData: { low, high } }) => {
      const [bottom, top] = [convert(low), convert(high)]
      return bottom === null || top === null ? [] : [{ x, bottom, top }]
    })
    const [first] = edges
    if (!first) return
    target.useBitmapCoordinateSpace(({ context, horizontalPixelRatio: wide, verticalPixelRatio: tall }) => {
      context.beginPath()
      context.moveTo(first.x * wide, first.top * tall)
      for (const edge of edges) context.lineTo(edge.x * wide, edge.top * tall)
      for (const edge of edges.reverse()) context.lineTo(edge.x * wide, edge.bottom * tall)
      context.closePath()
      context.fillStyle = this.fill
      context.fill()
    })
  }
}
