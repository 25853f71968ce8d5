import { fireEvent, screen, waitFor } from '@testing-library/react'
import { http, HttpResponse } from 'msw'
import { beforeEach, expect, it } from 'vitest'
import { respondWith, network } from '@/test/network'
import { show } from '@/test/render'
import { NewRun } from './NewRun'

const options = {
  kinds: ['solo', 'desk'],
  agents: [],
  models: [{ model: 'house::momentum', is_llm: false, usable: true }],
  providers: [{ provider: 'openai', configured: false, problem: 'the key of the provider is not set' }],
  datasets: [{ name: 'us', hash: 'abc', symbols: Array.from({ length: 50 }, (_, at) => `SYM${at}`), indexes: [], universes: [], first_day: '2012-01-03', last_day: '2012-12-31', market: null }],
  baselines: ['buy_and_hold', 'equal_weight'],
  markets: [{ name: 'us_equity', lot: 1, fractional: false, t_plus_one: false, shorting: false, max_leverage: 1 }],
  analysts: ['market', 'social', 'news', 'fundamentals'],
  memory: ['all', 'off'],
  languages: ['en', 'zh'],
  tools: [],
  max_agents: 64,
  max_rounds: 10,
  defaults: { dataset: 'us', market: 'us_equity', costs: 'market', symbols: [], universe: null, initial_cash: 100000, summaries: true, memory: 'all', max_debate_rounds: 1, max_risk_discuss_rounds: 1 },
}

/** The server's estimate of a run of an LLM. */
const estimateOf = ({ trials }: { trials: number }) => ({
  estimate: {
    jobs: trials,
    model_days: 20 * trials,
    calls: 160 * trials,
    input_tokens: 800_000 * trials,
    output_tokens: 48_000 * trials,
    cost_usd: 0.31 * trials,
    exceeds_budget: trials > 1,
    agents: [{ model: 'house::momentum', basis: 'assumption', calls: 160, model_days: 20, skipped_days: 0, input_tokens: 1, output_tokens: 1, explanation: '8 calls per day' }],
  },
  manifest: {},
  warnings: [],
})

/** The server's command: none for Chinese prompts. */
const commandOf = (body: unknown) => (JSON.stringify(body).includes('"zh"') ? null : `papertape run # ${JSON.stringify(body)}`)

beforeEach(() => {
  HTMLDialogElement.prototype.showModal = function () {
    this.open = true
  }
  HTMLDialogElement.prototype.close = function () {
    this.open = false
  }
  Element.prototype.scrollIntoView = () => undefined
  respondWith('/simulate/options', options)
  network.use(http.post('/experiments/command', async ({ request }) => HttpResponse.json({ command: commandOf(await request.json()) })))
  network.use(http.post('/experiments/estimate', async ({ request }) => HttpResponse.json(estimateOf((await request.json()) as { trials: number }))))
})

it('shows a server error at its field, expands the field and focuses it', async () => {
  let sent: unknown
  network.use(
    http.post('/simulate/trigger', async ({ request }) => {
      sent = await request.json()
      return HttpResponse.json({ error: 'invalid_input', message: 'seed: 5 is above 4' }, { status: 400 })
    }),
  )
  await show(<NewRun onClose={() => undefined} />)
  const symbols = await screen.findByLabelText('Symbols')
  fireEvent.change(symbols, { target: { value: 'sym1, SYM2 ' } })
  expect((symbols as HTMLInputElement).value).toBe('sym1, SYM2 ')
  fireEvent.submit(screen.getByRole('button', { name: 'Start run' }).closest('form') as HTMLFormElement)
  const message = await screen.findByText('5 is above 4')
  expect(sent).toMatchObject({ symbols: ['SYM1', 'SYM2'], agents: [{ model: 'house::momentum', kind: 'solo' }] })
  expect(message.closest('details')?.open).toBe(true)
  const seed = screen.getByLabelText('Seed')
  expect(seed.getAttribute('aria-describedby')).toBe(message.id)
  await waitFor(() => expect(document.activeElement).toBe(seed))
})

it('reports symbols that are not in the dataset and sends nothing', async () => {
  await show(<NewRun onClose={() => undefined} />)
  const symbols = await screen.findByLabelText('Symbols')
  fireEvent.change(symbols, { target: { value: 'SYM1, NOPE' } })
  fireEvent.submit(screen.getByRole('button', { name: 'Start run' }).closest('form') as HTMLFormElement)
  expect(await screen.findByText('Not in this dataset: NOPE')).toBeTruthy()
})

it('offers a desk’s models, analysts and rounds, and reports a missing key', async () => {
  await show(<NewRun onClose={() => undefined} />)
  fireEvent.change(await screen.findByLabelText('Kind'), { target: { value: 'desk' } })
  fireEvent.change(screen.getByLabelText('Deep model', { selector: 'input' }), { target: { value: 'openai::gpt-5' } })
  expect(screen.getByText('the key of the provider is not set')).toBeTruthy()
  fireEvent.click(screen.getByLabelText('News'))
  expect(await screen.findByText(/papertape run # .*"deep_think_llm":"openai::gpt-5","selected_analysts":\["market","social","fundamentals"\]/)).toBeTruthy()
  fireEvent.change(screen.getByLabelText('Language'), { target: { value: 'zh' } })
  expect(await screen.findByText(/^curl -X POST .*\/simulate\/trigger /)).toBeTruthy()
})

it('names the limit of debate rounds that the server has', async () => {
  respondWith('/simulate/options', { ...options, max_rounds: 4 })
  await show(<NewRun onClose={() => undefined} />)
  fireEvent.change(await screen.findByLabelText('Kind'), { target: { value: 'desk' } })
  fireEvent.change(screen.getByLabelText('Debate rounds'), { target: { value: '5' } })
  fireEvent.click(screen.getByRole('button', { name: 'Start run' }))
  expect(await screen.findByText('Enter a whole number of rounds from 1 to 4.')).toBeTruthy()
})

it('shows what a run may take before it starts, and starts trials as an experiment', async () => {
  let sent: unknown
  network.use(
    http.post('/experiments', async ({ request }) => {
      sent = await request.json()
      return HttpResponse.json({ error: 'invalid_input', message: 'simulation.end_date: is too late' }, { status: 400 })
    }),
  )
  await show(<NewRun onClose={() => undefined} />)
  const estimate = await screen.findByRole('region', { name: 'Estimate' })
  await waitFor(() => expect(estimate.textContent).toContain('$0.31'))
  expect(estimate.textContent).toContain('800K in · 48K out')
  fireEvent.click(screen.getByRole('button', { name: /^Compare with trials/ }))
  await waitFor(() => expect(estimate.textContent).toContain('$0.93'))
  expect(estimate.textContent).toContain('Exceeds the budget')
  expect(await screen.findByText(/papertape run # .*"trials":3/)).toBeTruthy()
  fireEvent.click(screen.getByRole('button', { name: 'Start experiment' }))
  // The error of a field inside the experiment is shown at that field.
  await screen.findByText('is too late')
  expect(screen.getByLabelText('End date').getAttribute('aria-invalid')).toBe('true')
  expect(sent).toMatchObject({ trials: 3, simulation: { start_date: '2012-10-01' } })
})
