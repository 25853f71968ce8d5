// Charts and tables as PNG files, in the current theme.
import { download } from './download'
import { DASH_LENGTHS, layoutLegend, type LegendLine, type PlacedLine, SAMPLE } from './legend'

const PADDING = 12
const ROW_HEIGHT = 24
const FONT = '13px system-ui, sans-serif'

/** Downloads a drawn chart or an SVG element. `title` and the lines of `legend` are written above it. */
export async function downloadPng(name: string, source: HTMLCanvasElement | SVGSVGElement, title = '', legend: readonly LegendLine[] = []): Promise<void> {
  const drawn = source instanceof HTMLCanvasElement ? source : await drawSvg(source)
  // A screenshot is not on the page, and has the pixels of the screen.
  const shown = source.getBoundingClientRect().width
  const scale = shown > 0 ? drawn.width / shown : window.devicePixelRatio || 1
  const width = Math.max(drawn.width / scale, measuring('bold ')(title))
  const lines = layoutLegend(legend, measuring(''), width)
  const titled = title === '' ? 0 : ROW_HEIGHT
  const top = titled + ((lines.at(-1)?.row ?? -1) + 1) * ROW_HEIGHT
  const canvas = newCanvas(width + 2 * PADDING, drawn.height / scale + top + 2 * PADDING, scale)
  const context = paint(canvas, scale)
  if (title !== '') text(context, title, PADDING, PADDING, 'bold ')
  for (const line of lines) drawLegendLine(context, line, PADDING + titled)
  context.drawImage(drawn, PADDING, PADDING + top, drawn.width / scale, drawn.height / scale)
  await save(name, canvas)
}

function drawLegendLine(context: CanvasRenderingContext2D, { label, token, dash, x, row, labelX, labelWidth }: PlacedLine, top: number): void {
  const y = top + row * ROW_HEIGHT
  context.strokeStyle = color(token, '#888')
  context.lineWidth = 2
  context.setLineDash(DASH_LENGTHS[dash])
  context.beginPath()
  context.moveTo(PADDING + x, y + ROW_HEIGHT / 2)
  context.lineTo(PADDING + x + SAMPLE, y + ROW_HEIGHT / 2)
  context.stroke()
  context.setLineDash([])
  text(context, label, PADDING + labelX, y, '', 'left', labelWidth)
}

/** A table as texts. */
export interface TextTable {
  columns: readonly { text: string; number?: boolean }[]
  rows: readonly (readonly string[])[]
  /** The last line, for example what the image lacks. */
  note?: string | undefined
}

/** Downloads a table as an image, with a title. Numbers are aligned right. */
export async function downloadTablePng(name: string, { columns, rows, note: foot = '' }: TextTable, title = ''): Promise<void> {
  const measure = measuring('bold ')
  const widths = columns.map((column, at) => Math.min(420, Math.max(...[column.text, ...rows.map((row) => row[at] ?? '')].map((cell) => measure(cell))) + 2 * PADDING))
  const scale = Math.max(1, Math.min(2, window.devicePixelRatio || 1))
  const width = widths.reduce((sum, one) => sum + one, 0)
  const lines = rows.length + 1 + Number(title !== '') + Number(foot !== '')
  const canvas = newCanvas(Math.max(width, 240) + 2 * PADDING, lines * ROW_HEIGHT + 2 * PADDING, scale)
  const context = paint(canvas, scale)
  const top = PADDING + (title === '' ? 0 : ROW_HEIGHT)
  if (title !== '') text(context, title, PADDING, PADDING, 'bold ')
  const line = (cells: readonly string[], y: number, weight: string) => {
    let x = PADDING
    columns.forEach((column, at) => {
      const cell = widths[at] ?? 0
      text(context, cells[at] ?? '', column.number ? x + cell - PADDING : x, y, weight, column.number ? 'right' : 'left', cell - PADDING)
      x += cell
    })
  }
  line(columns.map((column) => column.text), top, 'bold ')
  rows.forEach((row, at) => line(row, top + (at + 1) * ROW_HEIGHT, ''))
  if (foot !== '') text(context, foot, PADDING, top + (rows.length + 1) * ROW_HEIGHT, '')
  await save(name, canvas)
}

/** Measures texts of a weight. */
function measuring(weight: string): (value: string) => number {
  const context = document.createElement('canvas').getContext('2d')
  if (!context) throw new Error('this browser cannot draw')
  context.font = weight + FONT
  return (value) => context.measureText(value).width
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
  context.fillText(width === undefined ? value : shortened(context, value, width), x, y + 4)
}

/** The beginning of a text that is too wide. */
function shortened(context: CanvasRenderingContext2D, value: string, width: number): string {
  if (context.measureText(value).width <= width + 1) return value
  let end = value.length
  while (end > 0 && context.measureText(`${value.slice(0, end)}…`).width > width) end -= Math.max(1, Math.floor(end / 20))
  return `${value.slice(0, Math.max(0, end))}…`
}

function color(token: string, fallback: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(token).trim() || fallback
}

/** What an SVG has from the page's styles. The content policy forbids inline styles, so they become attributes. */
const STYLES = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'font-family', 'font-size', 'font-weight', 'text-anchor']

/** Draws an SVG with the styles that it has on the page. */
async function drawSvg(svg: SVGSVGElement): Promise<HTMLCanvasElement> {
  const { width, height } = svg.getBoundingClientRect()
  const copy = svg.cloneNode(true) as SVGSVGElement
  const originals = [svg, ...svg.querySelectorAll('*')]
  ;[copy, ...copy.querySelectorAll('*')].forEach((element, at) => {
    const original = originals[at]
    if (!original) return
    const style = getComputedStyle(original)
    for (const name of STYLES) element.setAttribute(name, style.getPropertyValue(name))
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

/** Downloads an element as an image: its boxes, their colors and its texts. */
export async function downloadElementPng(name: string, element: HTMLElement, title = ''): Promise<void> {
  const origin = element.getBoundingClientRect()
  const scale = Math.max(1, Math.min(2, window.devicePixelRatio || 1))
  const top = PADDING + (title === '' ? 0 : ROW_HEIGHT)
  const canvas = newCanvas(element.scrollWidth + 2 * PADDING, element.scrollHeight + top + PADDING, scale)
  const context = paint(canvas, scale)
  if (title !== '') text(context, title, PADDING, PADDING, 'bold ')
  context.translate(PADDING - origin.left + element.scrollLeft, top - origin.top + element.scrollTop)
  for (const inner of element.querySelectorAll<HTMLElement>('*')) drawBox(context, inner)
  await save(name, canvas)
}

function drawBox(context: CanvasRenderingContext2D, element: HTMLElement): void {
  const style = getComputedStyle(element)
  const { left, top, width, height } = element.getBoundingClientRect()
  if (width === 0 || height === 0 || style.visibility === 'hidden') return
  context.globalAlpha = Number(style.opacity)
  context.fillStyle = style.backgroundColor
  context.fillRect(left, top, width, height)
  // Patterns mark what is degraded.
  if (style.backgroundImage !== 'none') hatch(context, left, top, width, height)
  drawBorders(context, style, { left, top, width, height })
  context.globalAlpha = 1
  context.fillStyle = style.color
  context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`
  context.textAlign = 'left'
  context.textBaseline = 'middle'
  for (const node of element.childNodes) {
    if (node.nodeType !== Node.TEXT_NODE || !node.textContent?.trim()) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    const at = range.getBoundingClientRect()
    context.fillText(shortened(context, node.textContent.trim(), Math.min(at.width, width) + 1), at.left, at.top + at.height / 2)
  }
}

/** The borders of a box: frames, and the strokes that mark a state. */
function drawBorders(context: CanvasRenderingContext2D, style: CSSStyleDeclaration, { left, top, width, height }: Pick<DOMRect, 'left' | 'top' | 'width' | 'height'>): void {
  const side = (name: string, draw: (size: number) => void) => {
    const size = Number.parseFloat(style.getPropertyValue(`border-${name}-width`))
    if (!(size > 0) || style.getPropertyValue(`border-${name}-style`) === 'none') return
    context.fillStyle = style.getPropertyValue(`border-${name}-color`)
    draw(size)
  }
  side('top', (size) => context.fillRect(left, top, width, size))
  side('bottom', (size) => context.fillRect(left, top + height - size, width, size))
  side('right', (size) => context.fillRect(left + width - size, top, size, height))
  side('left', (size) => context.fillRect(left, top, size, height))
}

function hatch(context: CanvasRenderingContext2D, left: number, top: number, width: number, height: number): void {
  context.save()
  context.beginPath()
  context.rect(left, top, width, height)
  context.clip()
  context.beginPath()
  for (let x = left - height; x < left + width; x += 4) {
    context.moveTo(x, top + height)
    context.lineTo(x + height, top)
  }
  context.strokeStyle = color('--amber', '#b80')
  context.stroke()
  context.restore()
}

async function save(name: string, canvas: HTMLCanvasElement): Promise<void> {
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
  if (!blob) throw new Error('the image is too large')
  download(name, blob)
}
