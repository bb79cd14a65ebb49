// Runs plans in WebAssembly for tests/studio/test_studio.py and benches/web.py, in Node or in a browser.

/** Make one run with stops, and return everything about it that the native core has too. */
export async function report(engine, { plan, stops = [] }) {
  const run = engine.start(plan);
  const parts = new Map(); // by column: what was new at each stop, then the rest
  const rows = new Map();
  const read = () => {
    for (const { name: table, rows: count, columns } of run.tables()) {
      for (const { name: column } of columns) {
        const key = `${table} ${column}`;
        if (!parts.has(key)) parts.set(key, []);
        parts.get(key).push(run.raw(table, column, rows.get(table) ?? 0));
      }
      rows.set(table, count);
    }
  };
  for (const stop of stops) {
    run.advance(stop);
    read();
  }
  const results = run.finish();
  read();
  const columns = {};
  for (const [key, values] of parts) columns[key] = await digest(values);
  const captures = {};
  for (const name of JSON.parse(results).captures) captures[name] = await sha256(run.capture(name));
  run.free();
  return { results, columns, captures };
}

/** Rows, type and hash of a column that was read in parts. */
async function digest(parts) {
  const type = parts[0][1];
  const bytes = new Uint8Array(parts.reduce((sum, [part]) => sum + part.length, 0));
  let at = 0;
  for (const [part] of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  // The sign and payload of a NaN are not defined in WebAssembly.
  if (type === "float64") new Float64Array(bytes.buffer).forEach((x, n, all) => Number.isNaN(x) && (all[n] = NaN));
  return [type, await sha256(bytes)];
}

async function sha256(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The reports of all jobs; an error is its message. */
export async function reports(engine, jobs) {
  const all = [];
  for (const job of jobs) {
    try {
      all.push(await report(engine, job));
    } catch (error) {
      all.push({ error: error.message });
    }
  }
  return all;
}

if (typeof process !== "undefined" && process.versions?.node) {
  const { readFileSync } = await import("node:fs");
  globalThis.crypto ??= (await import("node:crypto")).webcrypto;
  const [folder, warm] = process.argv.slice(2);
  const { Engine } = await import(`${folder}/engine.mjs`);
  const engine = await Engine.load(readFileSync(`${folder}/dumbbell.wasm`));
  const jobs = JSON.parse(readFileSync(0, "utf8"));
  const answer = warm === undefined ? await reports(engine, jobs) : jobs.map((job) => times(engine, job, Number(warm)));
  process.stdout.write(JSON.stringify(answer));
}

/** CPU times of the runs of a plan in seconds: runs for `warm` seconds, while the engine compiles, then five more. */
function times(engine, { plan }, warm) {
  const all = [];
  let left = 5;
  for (let sum = 0; left > 0; left -= sum > warm ? 1 : 0) {
    const before = process.cpuUsage();
    const run = engine.start(plan);
    run.finish();
    run.free();
    const { user, system } = process.cpuUsage(before);
    all.push((user + system) / 1e6);
    sum += all.at(-1);
  }
  return all;
}
