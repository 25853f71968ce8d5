// Goal: the address holds the list's search, filters and order, and drops what the server would reject.
import { expect, it } from 'vitest'
import { isFiltered, nextOrder, orderOf, parseRunsSearch, queryOf } from './address'

const set = (search: Record<string, unknown>) => Object.fromEntries(Object.entries(parseRunsSearch(search)).filter(([, value]) => value !== undefined))

it('reads what the server accepts, and nothing else', () => {
  expect(set({ search: 2012, status: 'failed', quality: 'degraded', sort: '-name', from: '2026-01-01', tag: 'a' })).toEqual({
    search: '2012',
    status: 'failed',
    quality: 'degraded',
    sort: '-name',
    from: '2026-01-01',
    tag: 'a',
  })
  expect(set({ status: 'done', quality: 'good', sort: 'cost', from: 'today', to: 5, tag: '', model: {} })).toEqual({})
  expect(set({ sort: '-created' })).toEqual({})
})

it('sends the filters without the form', () => {
  const search = parseRunsSearch({ new: true, tag: 'a' })
  expect('new' in queryOf(search)).toBe(false)
  expect([isFiltered(search), isFiltered(parseRunsSearch({ new: true, sort: 'name' }))]).toEqual([true, false])
})

it('sorts a column by its useful order first, then reverses it', () => {
  expect([nextOrder('name', undefined), nextOrder('name', 'name'), nextOrder('name', '-name')]).toEqual(['name', '-name', 'name'])
  expect([nextOrder('quality', undefined), nextOrder('quality', '-quality')]).toEqual(['-quality', 'quality'])
  expect([nextOrder('created', undefined), nextOrder('created', 'created')]).toEqual(['created', undefined])
  expect([orderOf('created', undefined), orderOf('name', 'name'), orderOf('name', undefined)]).toEqual(['descending', 'ascending', 'none'])
})
