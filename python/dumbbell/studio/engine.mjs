// The simulator in JavaScript: loads dumbbell.wasm (crate `web`) and runs plans in steps. For pages, workers and Node.
//
//     const engine = await Engine.load(bytes);              // of dumbbell.wasm
//     const run = engine.start(plan);                       // the text of a plan, as Python makes it
//     while (run.advance(run.time + 0.1)) {                 // seconds of virtual time
//         for (const table of run.tables()) draw(run.column(table.name, "cwnd", rowsDrawn));
//     }
//     const { flows, queues } = JSON.parse(run.finish());   // the native results
//     run.free();

/** Bytes of a value of each type of column. */
const BYTES = { uint64: 8, float64: 8, uint32: 4, uint8: 1 };

/** An error in a plan or in a run. */
export class EngineError extends Error {}

/** One instance of the simulator: its memory belongs to one thread. */
export class Engine {
  #exports;

  /** Compile the module: an ArrayBuffer, a typed array, or a Response. */
  static async load(source) {
    const { instance } =
      typeof Response !== "undefined" && source instanceof Response
        ? await WebAssembly.instantiateStreaming(source, {})
        : await WebAssembly.instantiate(source, {});
    return new Engine(instance.exports);
  }

  constructor(exports) {
    this.#exports = exports;
  }

  /** The version of the simulator. */
  get version() {
    this.call("version");
    return this.text();
  }

  /** Begin the run of a plan, a text in JSON. */
  start(plan) {
    const bytes = new TextEncoder().encode(plan);
    const address = this.#exports.dumbbell_input(bytes.length) >>> 0;
    new Uint8Array(this.#exports.memory.buffer, address, bytes.length).set(bytes);
    return new Run(this, this.call("start"));
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
    const [bytes, type] = this.raw(table, column, from);
    if (type === "uint8") return bytes;
    if (type === "uint32") return new Uint32Array(bytes.buffer);
    if (type === "float64") return new Float64Array(bytes.buffer);
    const halves = new Uint32Array(bytes.buffer);
    const values = new Float64Array(halves.length / 2);
    for (let n = 0; n < values.length; n++) values[n] = halves[2 * n] + 2 ** 32 * halves[2 * n + 1];
    return values;
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
