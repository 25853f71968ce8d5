// Goal: the login page, which the server sends without the app's files, has the colors of the app.
import { expect, it } from 'vitest'
import login from '../../../crates/api/src/login.css?raw'
import tokens from './tokens.css?raw'

/** The colors of a rule by name. */
function colors(css: string, selector: string): Record<string, string> {
  const start = css.indexOf(selector)
  const rule = css.slice(css.indexOf('{', start) + 1, css.indexOf('}', start))
  return Object.fromEntries([...rule.matchAll(/(--[\w-]+): (#\w+);/g)].map(([, name = '', color = '']) => [name, color]))
}

it('uses the app’s colors, light and dark', () => {
  const dark = login.slice(login.indexOf('@media'))
  for (const [mine, theirs] of [[colors(login, ':root'), colors(tokens, ':root')], [colors(dark, ':root'), colors(tokens, ":root[data-theme='dark']")]] as const) {
    expect(Object.keys(mine).length).toBeGreaterThan(10)
    expect(theirs).toMatchObject(mine)
  }
})
