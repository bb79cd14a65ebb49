// The first lines of the worker for files. FileReaderSync exists in workers only: the analysis asks for bytes and waits.
import { answeringFiles } from "./files.mjs";

/** Bytes that are read at once. */
const PIECE = 4 * 2 ** 20;

function inPieces(file, moved) {
  const reader = new FileReaderSync();
  let [held, start] = [new Uint8Array(0), 0];
  return (at, length) => {
    if (at < start || at >= start + held.length) {
      [held, start] = [new Uint8Array(reader.readAsArrayBuffer(file.slice(at, at + PIECE))), at];
      moved(at + held.length);
    }
    return held.subarray(at - start, at - start + length);
  };
}

self.onmessage = answeringFiles((message) => self.postMessage(message), inPieces);
