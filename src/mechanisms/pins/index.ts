export { isPinned } from "./fingerprint.ts";
export { nearestPrint, type PendingPrint, type Pin, type PinChange, pendingDigest } from "./pin-book.ts";
export { PinFile, PinFileFault } from "./pin-file.ts";
export { Pins } from "./pins.ts";
