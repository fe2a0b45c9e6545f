export { CUT_OFF_MS } from "./dispatch.ts";
export { createKernel, type Kernel, type KernelOptions, type StageFactory } from "./kernel.ts";
