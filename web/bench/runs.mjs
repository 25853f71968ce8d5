// Measures the list of runs in a real browser with ten thousand of them: how soon its first rows stand, whether it
// stalls while it is scrolled to its end, and how soon a search and another order stand. A benchmark, not a test.
import { report, serve } from './browser.mjs'
import { makeRuns } from './record.mjs'

/** Counted up where the record is made otherwise. */
const FORMAT = 1
const count = Number(process.env.BENCH_RUNS ?? 10_000)
const world = await serve(`runs-${count}-${FORMAT}`, `making the record: ${count} runs; the next run finds them`, (url) => makeRuns(url, count))

/** Down by steps until no more rows come, as fast as frames and pages allow, then up again in leaps. */
async function toTheEnd(page, selector) {
  return page.evaluate(async ([selector, count]) => {
    window.longTasks.length = 0
    const box = document.querySelector(selector)
    const frame = () => new Promise(requestAnimationFrame)
    const loaded = () => Number(/[\d,]+/.exec(document.querySelector('main [role="status"]').textContent)[0].replace(/,/g, ''))
    const began = performance.now()
    while (performance.now() - began < 120_000 && (loaded() < count || box.scrollTop + box.clientHeight < box.scrollHeight - 2)) {
      box.scrollTop += 900
      await frame()
    }
    if (loaded() < count) throw new Error(`only ${loaded()} runs came`)
    for (let leap = 20; leap >= 0; leap -= 1) {
      box.scrollTop = (leap / 20) * (box.scrollHeight - box.clientHeight)
      for (let wait = 0; wait < 6; wait += 1) await frame()
    }
    window.scrolledMs = performance.now() - began
    return window.longTasks
  }, [selector, count])
}

const rows = '[data-run] [data-column="run"] a'
await report(world, [
  { name: `${count} runs, first rows`, address: '/app/runs', stands: rows, scrolls: null },
  { name: 'the same, with results', address: '/app/runs', stands: '[data-run] .num .up, [data-run] .num .down, [data-run] .num span span', scrolls: null },
  { name: 'the same, scrolled to the last run', address: '/app/runs', stands: rows, scrolls: '[role="table"]', scroll: toTheEnd },
  { name: 'sorted by name', address: '/app/runs?sort=name', stands: rows, scrolls: '[role="table"]' },
  { name: 'worst quality first', address: '/app/runs?sort=-quality', stands: rows, scrolls: '[role="table"]' },
  { name: 'searched', address: '/app/runs?search=contrarian', stands: rows, scrolls: '[role="table"]' },
])
await world.close()
