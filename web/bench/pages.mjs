// Measures the pages in a real browser over the real program: how soon a view stands, and whether it stalls while it
// is scrolled. A benchmark, not a test: it prints what it measures beside the aim, and fails only where it cannot
// measure.
import { report, serve } from './browser.mjs'
import { makeRecord } from './record.mjs'

/** Counted up where the record is made otherwise. */
const FORMAT = 1
const days = Number(process.env.BENCH_DAYS ?? 2500)
const world = await serve(`pages-${days}-${FORMAT}`, 'making the record: a run of ten agents over ten years, and one of 30,000 messages; the next run finds them', (url) => makeRecord(url, days))
const { ids } = world
const talk = `/app/runs/${ids.talk}/2012-10-01/chatterbox`
const long = `/app/runs/${ids.long}`
/** Each with the sign that what it is for can be seen, and what of it is scrolled. */
const VIEWS = [
  { name: 'run of 2,500 days and ten agents', address: long, stands: '.strip .day.gain, .strip .day.loss', drawn: '.chart canvas', scrolls: null },
  { name: 'metrics of this run', address: long, stands: '.grid-table tbody tr:nth-child(10) td.num', scrolls: null },
  { name: 'one year of its days', address: long, before: (page) => page.getByRole('button', { name: '2008', exact: true }).click(), stands: '.strip a.day', scrolls: null },
  { name: 'trades of one of its agents', address: `${long}?tab=trades`, stands: '.grid-table tbody tr:nth-child(20)', scrolls: null },
  { name: 'action log of this run', address: `${long}?tab=log`, stands: '[role="log"] [data-status]', scrolls: '[role="log"]' },
  { name: 'list of both runs', address: '/app/runs', stands: '[data-run] .num .up, [data-run] .num .down', scrolls: null },
  { name: 'session of 30,000 messages', address: `${talk}?view=conversation`, stands: '.transcript .message', scrolls: '.transcript-box' },
  { name: 'tape of this session', address: `${talk}?view=tape`, stands: '[aria-rowindex="2"]', scrolls: '[role="region"][tabindex="0"]' },
]

await report(world, VIEWS)
await world.close()
