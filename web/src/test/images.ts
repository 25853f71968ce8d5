// A stand-in for the canvas of images, which jsdom lacks: it records texts and strokes, with their colors.
import { onTestFinished, vi } from 'vitest'

export interface DrawnImage {
  texts: { text: string; x: number; y: number }[]
  strokes: { color: string; dash: number[]; y: number }[]
  fills: { color: string; x: number; y: number; width: number; height: number }[]
  width: number
  height: number
}

/** Texts are eight pixels a character. Returns the images that have been saved. */
export function recordImages(): DrawnImage[] {
  const saved: DrawnImage[] = []
  const drawn = new WeakMap<HTMLCanvasElement, DrawnImage>()
  const context = vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockImplementation(function (this: HTMLCanvasElement) {
    const image: DrawnImage = { texts: [], strokes: [], fills: [], width: this.width, height: this.height }
    drawn.set(this, image)
    let dash: number[] = []
    let end = 0
    const recorder = {
      strokeStyle: '',
      fillStyle: '',
      scale() {},
      save() {},
      restore() {},
      clip() {},
      rect() {},
      translate() {},
      beginPath() {},
      drawImage() {},
      moveTo() {},
      lineTo: (_x: number, y: number) => (end = y),
      setLineDash: (next: number[]) => (dash = next),
      stroke: () => image.strokes.push({ color: recorder.strokeStyle, dash, y: end }),
      fillRect: (x: number, y: number, width: number, height: number) => image.fills.push({ color: recorder.fillStyle, x, y, width, height }),
      fillText: (text: string, x: number, y: number) => image.texts.push({ text, x, y }),
      measureText: (text: string) => ({ width: 8 * text.length }),
    }
    return recorder as never
  })
  const blob = vi.spyOn(HTMLCanvasElement.prototype, 'toBlob').mockImplementation(function (this: HTMLCanvasElement, done) {
    const image = drawn.get(this)
    if (image) saved.push(image)
    done(new Blob())
  })
  const url = URL.createObjectURL
  URL.createObjectURL = () => 'blob:image'
  const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => {})
  onTestFinished(() => {
    for (const spy of [context, blob, click]) spy.mockRestore()
    URL.createObjectURL = url
  })
  return saved
}
