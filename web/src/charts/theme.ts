// Chart options and colors. A canvas cannot use CSS variables.
import { type DeepPartial, type ChartOptions, ColorType, LineStyle, type Time } from 'lightweight-charts'
import type { Dash } from '@/shared/legend'

/** Resolved colors by name, for one state of the root element's attributes, which include the theme. */
const resolved = { theme: '', colors: new Map<string, string>() }

/** A color of the design tokens. Cached, because `getComputedStyle` forces a style recalculation if the page has changed. */
export function cssColor(name: string): string {
  const root = document.documentElement
  const theme = [...root.attributes].map((one) => `${one.name}=${one.value}`).join(' ')
  if (resolved.theme !== theme) {
    resolved.theme = theme
    resolved.colors.clear()
  }
  let color = resolved.colors.get(name)
  if (color === undefined) resolved.colors.set(name, (color = getComputedStyle(root).getPropertyValue(name).trim() || '#888888'))
  return color
}

export function resolveColor(token: string): string {
  // A token may refer to another token.
  const value = cssColor(token)
  const inner = /^var\((--[\w-]+)\)$/.exec(value)?.[1]
  return inner ? cssColor(inner) : value
}

/** The chart's style of each pattern. */
export const LINE_STYLES: Record<Dash, LineStyle> = { solid: LineStyle.Solid, long: LineStyle.LargeDashed, dotted: LineStyle.Dotted, dashed: LineStyle.Dashed }

/** `formatDay` formats a trading day, `YYYY-MM-DD`; `formatTick` one on the axis, or returns `null` for the default. */
export function chartOptions(locale: string, formatDay: (date: string) => string, formatTick: (date: string) => string | null = () => null): DeepPartial<ChartOptions> {
  return {
    autoSize: true,
    layout: {
      background: { type: ColorType.Solid, color: cssColor('--bg') },
      textColor: cssColor('--text-3'),
      fontSize: 11,
      fontFamily: getComputedStyle(document.documentElement).fontFamily,
      // The logo would need an inline style, which the content policy forbids. Each chart has a text attribution instead.
      attributionLogo: false,
      panes: { separatorColor: cssColor('--line'), separatorHoverColor: cssColor('--bg-hover'), enableResize: false },
    },
    localization: { locale, timeFormatter: (time: Time) => formatDay(String(time)) },
    grid: { vertLines: { color: cssColor('--bg-hover') }, horzLines: { color: cssColor('--bg-hover') } },
    rightPriceScale: { borderColor: cssColor('--line') },
    // Several years have more days than pixels: days that share a pixel are drawn as one.
    timeScale: {
      borderColor: cssColor('--line'),
      fixLeftEdge: true,
      fixRightEdge: true,
      lockVisibleTimeRangeOnResize: true,
      minBarSpacing: 0.05,
      enableConflation: true,
      tickMarkFormatter: (time: Time) => formatTick(String(time)),
    },
    crosshair: {
      vertLine: { color: cssColor('--text-3'), style: LineStyle.Dotted, labelBackgroundColor: cssColor('--text-2') },
      horzLine: { color: cssColor('--text-3'), style: LineStyle.Dotted, labelBackgroundColor: cssColor('--text-2') },
    },
  }
}
