// Checks the gzipped size of what a browser loads: the first view, and everything.
import { readdir, readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'

/** KiB, gzipped. */
const FIRST_VIEW = 170
const ALL = 380

const dist = new URL('../dist/', import.meta.url)
const assets = new URL('assets/', dist)
const kib = (bytes) => bytes / 1024
const size = async (url) => gzipSync(await readFile(url), { level: 9 }).length

const html = await readFile(new URL('index.html', dist), 'utf8')
const named = [...html.matchAll(/(?:src|href)="\/assets\/([^"]+)"/g)].map((found) => found[1])
let all = 0
let first = 0
const rows = []
for (const name of (await readdir(assets)).filter((name) => /\.(js|css)$/.test(name))) {
  const bytes = await size(new URL(name, assets))
  all += bytes
  if (named.includes(name)) first += bytes
  rows.push([bytes, name, named.includes(name) ? 'first view' : ''])
}
for (const [bytes, name, note] of rows.sort((a, b) => b[0] - a[0])) {
  console.log(`${kib(bytes).toFixed(1).padStart(7)} KiB  ${name}  ${note}`)
}
console.log(`first view ${kib(first).toFixed(1)} (limit ${FIRST_VIEW} KiB); all ${kib(all).toFixed(1)} (limit ${ALL} KiB)`)
if (kib(first) > FIRST_VIEW || kib(all) > ALL) {
  console.error('the UI exceeds its size budget')
  process.exit(1)
}
