import { chromium } from 'playwright-core'
const [,, url, stands] = process.argv
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
for (let round = 0; round < 3; round++) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US' })
  const page = await context.newPage()
  await page.goto(url, { waitUntil: 'commit' })
  await page.waitForFunction((s) => document.querySelector(s) !== null, stands, { polling: 'raf', timeout: 60000 })
  const at = await page.evaluate(() => performance.now())
  console.log('visible', Math.round(at))
  if (round === 2) {
    const rows = await page.evaluate(() => performance.getEntriesByType('resource').map((e) => [Math.round(e.startTime), Math.round(e.responseStart), Math.round(e.responseEnd), e.name.replace(location.origin, '').slice(0, 90)]))
    for (const row of rows) console.log(row.join(' '))
  }
  await context.close()
}
await browser.close()
