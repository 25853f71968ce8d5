// @ts-check
// Follows a job of Papertape as it goes on, with what Node.js 20 has alone; browsers have `EventSource` for
// this, and need none of it. Copy `follow`, or run it:
//
//     node follow-job.mjs http://127.0.0.1:8080 JOB
//
// A connection that breaks is opened again behind the last event that was read. `--break-every N` breaks it by
// itself after every N events, to show that none is lost or told twice. A token is taken from PAPERTAPE_TOKEN.

import { pathToFileURL } from "node:url";

/** @typedef {import("./papertape.d.ts").StreamEvent} StreamEvent */

/** The server refused: it will not be otherwise the next time. */
class Refused extends Error {}

/**
 * The events of one connection. None at all: the job's end has been told. A `delta`, words of an answer that
 * is being written, has the id `null`: it is kept nowhere.
 * @param {string} url
 * @param {string} job
 * @param {number | string | null} after
 * @param {string} [token]
 * @returns {AsyncGenerator<StreamEvent>}
 */
export async function* events(url, job, after, token) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (after !== null) headers["Last-Event-ID"] = String(after);
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(`${url}/jobs/${job}/stream`, { headers });
  if (response.status === 204) return;
  if (!response.ok || !response.body) {
    const text = `${response.status} ${await response.text()}`;
    throw response.status < 500 && response.status !== 429 ? new Refused(text) : new Error(text);
  }
  let text = "";
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      /** @type {Record<string, string>} */
      const fields = {};
      for (const line of text.slice(0, end).split("\n")) {
        const at = line.indexOf(":");
        fields[line.slice(0, at)] = line.slice(at + 1).replace(/^ /, "");
      }
      text = text.slice(end + 2);
      if (fields.data !== undefined) {
        // A number, or an opaque text if the job is split into parts.
        const id = fields.id === undefined ? null : /^\d+$/.test(fields.id) ? Number(fields.id) : fields.id;
        yield { name: fields.event, id, data: JSON.parse(fields.data) };
      }
    }
  }
}

/**
 * The job's events up to its end, over as many connections as that takes. `after` 0: from the first one.
 * @param {string} url
 * @param {string} job
 * @param {{ after?: number | string | null, token?: string, breakEvery?: number }} [given]
 * @returns {AsyncGenerator<StreamEvent>}
 */
export async function* follow(url, job, { after = null, token, breakEvery = 0 } = {}) {
  let failures = 0;
  for (;;) {
    let count = 0;
    try {
      for await (const event of events(url, job, after, token)) {
        failures = 0;
        after = event.id ?? after;
        yield event;
        if (event.name === "end") return;
        count += 1;
        if (count === breakEvery) break;
      }
      if (count === 0) failures += 1;
    } catch (error) {
      if (error instanceof Refused) throw error;
      failures += 1;
    }
    if (failures > 5) throw new Error(`${url} does not answer`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(failures, 5) * 1000));
  }
}

/** JSON with its keys in order. @param {unknown} value @returns {string} */
function sorted(value) {
  if (Array.isArray(value)) return `[${value.map(sorted).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    const pairs = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
    return `{${pairs.map(([key, inner]) => `${JSON.stringify(key)}: ${sorted(inner)}`).join(", ")}}`;
  }
  return JSON.stringify(value);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [url, job, flag, every] = process.argv.slice(2);
  const breakEvery = flag === "--break-every" ? Number(every) : 0;
  const token = process.env.PAPERTAPE_TOKEN;
  for await (const event of follow(url.replace(/\/$/, ""), job, { after: 0, token, breakEvery })) {
    if (event.id !== null) console.log(`${event.id} ${event.name} ${sorted(event.data.event)}`);
  }
}
