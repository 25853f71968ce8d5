// @ts-check
// A client of Papertape's API, of what Node.js 20 has alone. It is typed by papertape.d.ts: rename it to
// .mts to go on in TypeScript. Copy it, or run it against a server to see it at work:
//
//     node papertape-client.mjs http://127.0.0.1:8080

import { pathToFileURL } from "node:url";

/** @typedef {import("./papertape.d.ts").Simulation} Simulation */
/** @typedef {import("./papertape.d.ts").Queued} Queued */
/** @typedef {import("./papertape.d.ts").Status} Status */
/** @typedef {import("./papertape.d.ts").RangeResults} RangeResults */
/** @typedef {import("./papertape.d.ts").Session} Session */
/** @typedef {import("./papertape.d.ts").Sessions} Sessions */
/** @typedef {import("./papertape.d.ts").Refusal} Refusal */
/** @typedef {Record<string, string | number | boolean | null | undefined>} Query */

const STOPPED = new Set(["completed", "partial", "failed", "cancelled"]);

/** The server refused: `status` is the HTTP status, `code` the error's name for programs. */
export class PapertapeError extends Error {
  /** @param {number} status @param {Refusal} refusal */
  constructor(status, refusal) {
    super(`${status} ${refusal.error}: ${refusal.message}`);
    this.status = status;
    this.code = refusal.error;
  }
}

export class Papertape {
  /** @param {string} url */
  constructor(url) {
    this.url = url.replace(/\/$/, "");
  }

  /**
   * Sends one request. What is null in the query is left out.
   * @param {"GET" | "POST"} method
   * @param {string} path
   * @param {{ query?: Query, body?: unknown }} [given]
   * @returns {Promise<any>}
   */
  async request(method, path, { query = {}, body } = {}) {
    const url = new URL(this.url + path);
    for (const [key, value] of Object.entries(query)) {
      if (value !== null && value !== undefined) url.searchParams.set(key, String(value));
    }
    const response = await fetch(url, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const answer = await response.json();
    if (!response.ok) throw new PapertapeError(response.status, answer);
    return answer;
  }

  /** Queues a simulation. @param {Simulation} simulation @returns {Promise<Queued>} */
  trigger(simulation) {
    return this.request("POST", "/simulate/trigger", { body: simulation });
  }

  /** How far a job is. @param {string} jobId @returns {Promise<Status>} */
  status(jobId) {
    return this.request("GET", `/simulate/status/${encodeURIComponent(jobId)}`);
  }

  /** Asks for a job's status until it has stopped. @param {string} jobId */
  async wait(jobId, everyMs = 1000) {
    for (;;) {
      const status = await this.status(jobId);
      if (STOPPED.has(status.status)) return status;
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }

  /** Results of trading over a range. @param {Query} query @returns {Promise<RangeResults>} */
  results(query) {
    return this.request("GET", "/results", { query });
  }

  /**
   * What agents said and did, session by session, page after page.
   * @param {Query} query
   * @returns {AsyncGenerator<Session>}
   */
  async *sessions(query) {
    /** @type {string | null} */
    let cursor = null;
    do {
      /** @type {Sessions} */
      const page = await this.request("GET", "/reasoning", { query: { ...query, cursor } });
      yield* page.sessions;
      cursor = page.next_cursor;
    } while (cursor !== null);
  }
}

/** @param {number | null | undefined} fraction */
const percent = (fraction) =>
  fraction == null ? "none" : `${fraction > 0 ? "+" : ""}${(100 * fraction).toFixed(2)}%`;

/** Runs a week of two house models, and prints what came of it. @param {string} url */
async function main(url) {
  const papertape = new Papertape(url);
  const queued = await papertape.trigger({
    start_date: "2012-10-01",
    end_date: "2012-10-05",
    models: ["house::momentum", "house::buy_and_hold"],
    symbols: ["AAPL", "IBM"],
    initial_cash: 10000,
    replace_existing: true,
  });
  console.log(`job ${queued.job_id}: ${queued.message}`);
  for (const warning of queued.warnings) console.log(`warning: ${warning}`);

  const status = await papertape.wait(queued.job_id, 200);
  const { completed, total_model_days } = status.progress;
  console.log(`${status.status}: ${completed} of ${total_model_days} model-days`);

  for (const result of (await papertape.results({ job_id: queued.job_id })).results) {
    const { total_return, max_drawdown } = result.period_metrics;
    const held = result.baselines?.buy_and_hold.period_metrics.total_return;
    console.log(
      `${result.model}: ${result.ending_portfolio_value.toFixed(2)}, return ${percent(total_return)}, ` +
        `drawdown ${percent(max_drawdown)}; buy and hold ${percent(held)}`,
    );
  }

  for await (const session of papertape.sessions({ job_id: queued.job_id, model: "house::momentum", limit: 2 })) {
    console.log(`${session.date} ${session.session_summary}`);
    for (const { action_type, amount, symbol, price } of session.positions) {
      if (action_type !== "no_trade") console.log(`  ${action_type} ${amount} ${symbol} at ${price}`);
    }
  }

  try {
    await papertape.results({ date: "yesterday" });
  } catch (error) {
    if (!(error instanceof PapertapeError)) throw error;
    console.log(`refused: ${error.message}`);
  }
  process.exitCode = status.status === "completed" ? 0 : 1;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(process.argv[2] ?? "http://127.0.0.1:8080");
}
