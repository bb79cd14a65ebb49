// The first lines of the worker.
import { answering } from "./worker.mjs";

const channel = new MessageChannel();
const waiting = [];
channel.port1.onmessage = () => waiting.shift()();
const pause = () => new Promise((resume) => (waiting.push(resume), channel.port2.postMessage(null)));
self.onmessage = answering((message) => self.postMessage(message), pause);
