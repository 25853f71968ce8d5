// Charts and tables as PNG files, in the current theme.
import { download } from './download'

const PADDING = 12
const ROW_HEIGHT = 24
const FONT = '13px system-ui, sans-serif'

/** Downloads a drawn chart, an SVG element or a table. `title` is written above it. */
export async function downloadPng(name: string, source: HTMLCanvasElement | SVGSVGElement, title?: string): Promise<void> {
  const drawn = source instanceof HTMLCanvasElement ? source : await drawSvg(source)
  const scale = drawn.width / (source.getBoundingClientRect().width || drawn.width)
  const top = title ? ROW_HEIGHT : 0
  const canvas = newCanvas(drawn.width / scale + 2 * PADDING, drawn.height / scale + top + 2 * PADDING, scale)
  const context = paint(canvas, scale)
  if (title) text(context, title, PADDING, PADDING, 'bold ')
  context.drawImage(drawn, PADDING, PADDING + top, drawn.width / scale, drawn.height / scale)
  await save(name, canvas)
}

/** Downloads a table as an image. Numbers, which are given as such columns, are aligned right. */
export async function downloadTablePng(
  name: string,
  columns: readonly { text: string; number?: boolean }[],
  rows: readonly (readonly string[])[],
): Promise<void> {
  const measure = document.createElement('canvas').getContext('2d')
  if (!measure) throw new Error('this browser cannot draw')
  measure.font = `bold ${FONT}`
  const widths = columns.map((column, at) => Math.min(420, Math.max(...[column.text, ...rows.map((row) => row[at] ?? '')].map((cell) => measure.measureText(cell).width)) + 2 * PADDING))
  const scale = Math.max(1, Math.min(2, window.devicePixelRatio || 1))
  const width = widths.reduce((sum, one) => sum + one, 0)
  const canvas = newCanvas(width + 2 * PADDING, (rows.length + 1) * ROW_HEIGHT + 2 * PADDING, scale)
  const context = paint(canvas, scale)
  const line = (cells: readonly string[], y: number, weight: string) => {
    let x = PADDING
    columns.forEach((column, at) => {
      const cell = widths[at] ?? 0
      text(context, cells[at] ?? '', column.number ? x + cell - PADDING : x, y, weight, column.number ? 'right' : 'left', cell - PADDING)
      x += cell
    })
  }
  line(columns.map((column) => column.text), PADDING, 'bold ')
  rows.forEach((row, at) => line(row, PADDING + (at + 1) * ROW_HEIGHT, ''))
  await save(name, canvas)
}

function newCanvas(width: number, height: number, scale: number): HTMLCanvasElement {
  const canvas = document.createElement('canvas')
  canvas.width = Math.ceil(width * scale)
  canvas.height = Math.ceil(height * scale)
  return canvas
}

/** Fills the background. */
function paint(canvas: HTMLCanvasElement, scale: number): CanvasRenderingContext2D {
  const context = canvas.getContext('2d')
  if (!context) throw new Error('this browser cannot draw')
  context.scale(scale, scale)
  context.fillStyle = color('--bg', '#fff')
  context.fillRect(0, 0, canvas.width, canvas.height)
  return context
}

function text(context: CanvasRenderingContext2D, value: string, x: number, y: number, weight: string, align: CanvasTextAlign = 'left', width?: number): void {
  context.font = weight + FONT
  context.fillStyle = color('--text', '#000')
  context.textAlign = align
  context.textBaseline = 'top'
  context.fillText(value, x, y + 4, width)
}

function color(token: string, fallback: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(token).trim() || fallback
}

/** The properties that an SVG has from the page's styles. */
const STYLES = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'font', 'text-anchor', 'color']

/** Draws an SVG with the styles that it has on the page. */
async function drawSvg(svg: SVGSVGElement): Promise<HTMLCanvasElement> {
  const { width, height } = svg.getBoundingClientRect()
  const copy = svg.cloneNode(true) as SVGSVGElement
  const originals = [svg, ...svg.querySelectorAll('*')]
  ;[copy, ...copy.querySelectorAll('*')].forEach((element, at) => {
    const original = originals[at]
    if (!original) return
    const style = getComputedStyle(original)
    element.setAttribute('style', STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`).join(';'))
  })
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  copy.setAttribute('width', String(width))
  copy.setAttribute('height', String(height))
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`
  await image.decode()
  const canvas = newCanvas(width, height, 2)
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
  return canvas
}

async function save(name: string, canvas: HTMLCanvasElement): Promise<void> {
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
  if (!blob) throw new Error('the image is too large')
  download(name, blob)
}
