// The simulator and the analysis of captures in JavaScript: loads dumbbell.wasm (crate `web`). For pages, workers and Node.
//
//     const engine = await Engine.load(bytes);              // of dumbbell.wasm
//     const run = engine.start(plan);                       // the text of a plan, as Python makes it
//     while (run.advance(run.time + 0.1)) {                 // seconds of virtual time
//         for (const table of run.tables()) draw(run.column(table.name, "cwnd", rowsDrawn));
//     }
//     const { flows, queues } = JSON.parse(run.finish());   // the native results
//     run.free();
//
//     const capture = engine.analyze(file);                 // { name, size, read(at, length) }: a file, read in pieces
//     for (const row of capture.rows("flows")) list(row.src, row.dst);
//     const { packets } = capture.segments(0);              // the columns of a connection's segments

/** Bytes of a value of each type of column. */
const BYTES = { uint64: 8, float64: 8, uint32: 4, uint8: 1 };

/** A missing value of int64 columns, as the analysis of captures writes it. */
const MISSING = -(2 ** 63);

/** An error in a plan, in a run or in a capture. */
export class EngineError extends Error {}

/** One instance of the simulator: its memory belongs to one thread. */
export class Engine {
  #exports;
  #file = null;
  #at = 0;

  /** Compile the module: an ArrayBuffer, a typed array, or a Response. */
  static async load(source) {
    const engine = new Engine();
    const imports = { dumbbell: { read: (address, length) => engine.#read(address >>> 0, length >>> 0) } };
    const { instance } =
      typeof Response !== "undefined" && source instanceof Response
        ? await WebAssembly.instantiateStreaming(source, imports)
        : await WebAssembly.instantiate(source, imports);
    engine.#exports = instance.exports;
    return engine;
  }

  /** Write the next bytes of the file into memory, and return their number. */
  #read(address, length) {
    try {
      const bytes = this.#file.read(this.#at, length);
      new Uint8Array(this.#exports.memory.buffer, address, bytes.length).set(bytes);
      this.#at += bytes.length;
      return bytes.length;
    } catch {
      return -1;
    }
  }

  /** Call a function that reads a file, from its beginning. */
  reading(file, name, ...values) {
    [this.#file, this.#at] = [file, 0];
    try {
      return this.call(name, ...values);
    } finally {
      this.#file = null;
    }
  }

  /** The version of the simulator. */
  get version() {
    this.call("version");
    return this.text();
  }

  /** Begin the run of a plan, a text in JSON. */
  start(plan) {
    this.input(plan);
    return new Run(this, this.call("start"));
  }

  /** Analyze a capture: `read(at, length)` of the file returns at most `length` of its bytes, none at its end. */
  analyze(file) {
    this.input(JSON.stringify({ name: file.name, size: file.size }));
    this.reading(file, "analyze");
    return new Capture(this, file, JSON.parse(this.text()));
  }

  /** Give a text to the next call. */
  input(text) {
    const bytes = new TextEncoder().encode(text);
    const address = this.#exports.dumbbell_input(bytes.length) >>> 0;
    new Uint8Array(this.#exports.memory.buffer, address, bytes.length).set(bytes);
  }

  /** Bytes of memory in use. */
  get memory() {
    return this.#exports.memory.buffer.byteLength;
  }

  /** Call a function of the interface; an EngineError has its message. */
  call(name, ...values) {
    let answer;
    try {
      answer = this.#exports[`dumbbell_${name}`](...values);
    } catch (error) {
      // A panic traps; its message is in the output. Nothing more can be called.
      throw error instanceof WebAssembly.RuntimeError ? new EngineError(`the engine has stopped: ${this.text()}`) : error;
    }
    if (answer < 0) throw new EngineError(this.text());
    return answer;
  }

  /** A copy of what the last call has put out, without its first bytes. */
  bytes(from = 0) {
    const address = this.#exports.dumbbell_output() >>> 0;
    const length = this.#exports.dumbbell_output_length() >>> 0;
    return new Uint8Array(this.#exports.memory.buffer, address, length).slice(from);
  }

  /** The same as text. */
  text() {
    return new TextDecoder().decode(this.bytes());
  }
}

/** A run, in progress or finished. */
export class Run {
  /** Virtual time until which the run has been advanced, in seconds. */
  time = 0;
  #engine;
  #number;
  #tables = null;
  #captures = [];

  constructor(engine, number) {
    this.#engine = engine;
    this.#number = number;
  }

  /** Process the events until a virtual time in seconds. False at the end of the run. */
  advance(until) {
    this.#tables = null;
    this.time = until;
    return this.#engine.call("advance", this.#number, BigInt(Math.round(until * 1e9))) === 1;
  }

  /** The tables so far: name, rows, and columns with their types. All tables after the end. */
  tables() {
    if (this.#tables === null) {
      this.#engine.call("tables", this.#number);
      this.#tables = JSON.parse(this.#engine.text());
    }
    return this.#tables;
  }

  /** The values of a column from a row on, as numbers; times are exact up to 104 days. */
  column(table, column, from = 0) {
    return numbers(...this.raw(table, column, from));
  }

  /** The bytes of a column from a row on, little-endian, and its type. */
  raw(table, column, from = 0) {
    const place = this.tables().findIndex((t) => t.name === table);
    if (place < 0) throw new EngineError(`no table ${table}`);
    const columns = this.tables()[place].columns;
    const within = columns.findIndex((c) => c.name === column);
    if (within < 0) throw new EngineError(`no column ${column} in ${table}`);
    this.#engine.call("column", this.#number, place, within);
    const { type } = columns[within];
    return [this.#engine.bytes(from * BYTES[type]), type];
  }

  /** Process the rest. The results as the text of a JSON document. */
  finish() {
    this.#engine.call("finish", this.#number);
    const text = this.#engine.text();
    ({ tables: this.#tables, captures: this.#captures } = JSON.parse(text));
    return text;
  }

  /** A capture of a finished run: the bytes of a pcapng file. */
  capture(name) {
    const place = this.#captures.indexOf(name);
    if (place < 0) throw new EngineError(`no capture ${name}`);
    this.#engine.call("capture", this.#number, place);
    return this.#engine.bytes();
  }

  /** Forget the run. */
  free() {
    this.#engine.call("free", this.#number);
  }
}

/** A capture that has been analyzed. An engine has one at a time. */
export class Capture {
  #engine;
  #file;

  constructor(engine, file, summary) {
    this.#engine = engine;
    this.#file = file;
    /** Frames by content, totals, warnings, damage, properties: those of `dumbbell analyze --json`. */
    this.summary = summary;
  }

  /** The rows of a table; of TCP connections or UDP conversations only those with these numbers. */
  rows(table, numbers = null) {
    return JSON.parse(this.rowsText(table, numbers));
  }

  /** The same as text. */
  rowsText(table, numbers = null) {
    this.#engine.input(JSON.stringify({ table, numbers }));
    this.#engine.call("capture_rows");
    return this.#engine.text();
  }

  /** The numbers of the connections with the most payload, the largest first. */
  largest(most) {
    this.#engine.call("capture_largest", most);
    return JSON.parse(this.#engine.text());
  }

  /** Read the file again for the columns of a connection's segments, `packets`, and of its SACK blocks, `sacks`. */
  segments(flow) {
    this.#engine.reading(this.#file, "segments", BigInt(flow));
    const tables = JSON.parse(this.#engine.text());
    return Object.fromEntries(
      tables.map(({ name, columns }, table) => [
        name,
        Object.fromEntries(
          columns.map(({ name: column, type }, n) => {
            this.#engine.call("segment_column", table, n);
            return [column, numbers(this.#engine.bytes(), type)];
          }),
        ),
      ]),
    );
  }

  /** Forget it. */
  close() {
    this.#engine.call("close");
  }
}

/** The values of a column as numbers: NaN where an int64 is missing. */
function numbers(bytes, type) {
  if (type === "uint8") return bytes;
  if (type === "uint16") return new Uint16Array(bytes.buffer);
  if (type === "uint32") return new Uint32Array(bytes.buffer);
  if (type === "float64") return new Float64Array(bytes.buffer);
  const low = new Uint32Array(bytes.buffer);
  const high = type === "int64" ? new Int32Array(bytes.buffer) : low;
  const values = new Float64Array(low.length / 2);
  for (let n = 0; n < values.length; n++) {
    const value = low[2 * n] + 2 ** 32 * high[2 * n + 1];
    values[n] = value === MISSING ? NaN : value;
  }
  return values;
}
