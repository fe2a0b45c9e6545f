export { createKernel, type Kernel, type KernelOptions, type StageFactory } from "./kernel.ts";
