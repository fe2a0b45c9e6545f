export type { Arrangement } from "./catalog/layouts.ts";
export { createKernel, type Kernel, type KernelOptions, type Place, type StageFactory } from "./kernel.ts";
