import { expect, it } from 'vitest'
import document from '../../../../crates/papertape/tests/it/snapshots/it__api_openapi__openapi.snap?raw'
import { CODES, codeText, makeReasons, reasonOf } from './codes'
import type { CodeList } from './codeTexts'
import { translate } from '.'

interface OpenApi {
  components: { schemas: { Codes: { properties: Record<string, { enum: string[] }> } } }
}

/** The code lists of the OpenAPI document, which the server generates. */
const { properties: LISTS } = (JSON.parse(document.slice(document.indexOf('\n---\n', 3) + 5)) as OpenApi).components.schemas.Codes

it('has a text in both languages for every code of the server', () => {
  expect(Object.keys(LISTS).sort()).toEqual(Object.keys(CODES.en).sort())
  for (const [list, { enum: codes }] of Object.entries(LISTS)) {
    expect(codes.length, list).toBeGreaterThan(0)
    for (const language of ['en', 'zh'] as const) {
      const texts = CODES[language][list as CodeList] as Record<string, string>
      expect(Object.keys(texts).sort(), `${language} ${list}`).toEqual([...codes].sort())
      for (const code of codes) expect(texts[code], `${language} ${list} ${code}`).not.toMatch(/^\s*$|_/)
    }
  }
})

it('splits reason codes of every node', () => {
  const { node_failure: failures } = LISTS
  for (const failure of failures?.enum ?? []) {
    expect(reasonOf(`bull_researcher_${failure}`)).toEqual({ node: 'node.Bull Researcher', failure })
    expect(reasonOf(`portfolio_manager_${failure}`)?.failure).toBe(failure)
  }
  expect(reasonOf('unreadable_provenance')).toBeNull()
})

it('translates reasons and leaves unknown codes unchanged', () => {
  const en = makeReasons('en', (key, values) => translate('en', key, values))
  const zh = makeReasons('zh', (key, values) => translate('zh', key, values))
  expect(en.full('bull_researcher_timeout')).toBe('Bull: Timed out')
  expect(zh.why('trader_unparseable')).toBe('回答无法解析')
  expect(en.why('unreadable_provenance')).toBe('The research provenance could not be read')
  expect(en.why('something_new')).toBe('something_new')
  expect(en.full('job_cancelled', 'the job is cancelled')).toBe('the job is cancelled')
  expect(codeText('zh', 'order', 'something_new')).toBe('something_new')
})
