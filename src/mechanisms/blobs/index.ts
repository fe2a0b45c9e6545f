export { type Blobs, createBlobs } from "./blobs.ts";
