export { createSeal } from "./seal.ts";
