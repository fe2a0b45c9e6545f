export type { Pin, PinChange } from "./pin-book.ts";
export { PinFile, PinFileFault } from "./pin-file.ts";
export { Pins } from "./pins.ts";
