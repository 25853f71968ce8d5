// Colours for what is drawn on a canvas, which knows no variables of CSS.
import { type DeepPartial, type ChartOptions, ColorType, LineStyle } from 'lightweight-charts'

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || '#888888'
}

export function resolved(token: string): string {
  // A token may stand for another one.
  const value = colour(token)
  const inner = /^var\((--[\w-]+)\)$/.exec(value)?.[1]
  return inner ? colour(inner) : value
}

export function chartOptions(locale: string): DeepPartial<ChartOptions> {
  return {
    autoSize: true,
    layout: {
      background: { type: ColorType.Solid, color: colour('--bg') },
      textColor: colour('--text-3'),
      fontSize: 11,
      fontFamily: getComputedStyle(document.documentElement).fontFamily,
      // Its mark would bring an inline style, which the server forbids: the credit stands under each chart.
      attributionLogo: false,
      panes: { separatorColor: colour('--line'), separatorHoverColor: colour('--bg-hover'), enableResize: false },
    },
    localization: { locale, dateFormat: 'yyyy-MM-dd' },
    grid: { vertLines: { color: colour('--bg-hover') }, horzLines: { color: colour('--bg-hover') } },
    rightPriceScale: { borderColor: colour('--line') },
    // Of years, more days than there are pixels: those of a pixel are drawn as one.
    timeScale: { borderColor: colour('--line'), fixLeftEdge: true, fixRightEdge: true, minBarSpacing: 0.05, enableConflation: true },
    crosshair: {
      vertLine: { color: colour('--text-3'), style: LineStyle.Dotted, labelBackgroundColor: colour('--text-2') },
      horzLine: { color: colour('--text-3'), style: LineStyle.Dotted, labelBackgroundColor: colour('--text-2') },
    },
  }
}
