/** What every client in front of the gateway is to the test, and where the real programs are. */
import { join } from "node:path";
import { pathOf } from "../../needs/need.ts";
import { parts } from "../../needs/programs.ts";

export type Tool = { readonly name: string };

/** The result of a call. What a client or an era adds around it (`_meta`, `isError: false`) is not compared. */
export type Result = { readonly content?: unknown; readonly structuredContent?: unknown };

export type RealClient = {
  list(): Promise<readonly Tool[]>;
  call(name: string, args: Readonly<Record<string, unknown>>): Promise<Result>;
  close(): Promise<void>;
};

/** `home` is an empty folder for what a client keeps between runs. */
export type Connect = (options: { readonly url: string; readonly home: string }) => Promise<RealClient>;

export const partPath = (path: string): string => join(pathOf(parts), path);
