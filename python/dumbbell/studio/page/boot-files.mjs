// The first lines of the worker for files.
import { answeringFiles } from "./files.mjs";

self.onmessage = answeringFiles((message) => self.postMessage(message));
