/** What a gateway that runs leaves beside its database: where it listens. Its config may name another address by now. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolder, replaceFile } from "../../contract/index.ts";
import type { Gateway } from "../../server/gateway-types.ts";
import { objectOf, textOf } from "../json.ts";

export type GatewayMark = {
  readonly pid: number;
  /** Where it is reached from here. */
  readonly url: string;
  /** The address was not that of the config, but given to this start. */
  readonly isGiven: boolean;
};

const NAME = "gateway.json";

/** Of a gateway that alone has its database. Gives what takes the mark away. */
export function leaveMark({ config }: Gateway, mark: GatewayMark): () => void {
  const { state: folder } = config.gateway;
  if (folder === undefined || config.state.database.kind !== "sqlite") return () => {};
  try {
    makePrivateFolder(folder);
    replaceFile(join(folder, NAME), `${JSON.stringify(mark)}\n`);
  } catch {
    // Nothing but a hint for people is missing then.
    return () => {};
  }
  return () => {
    try {
      if (readMark(folder)?.pid === mark.pid) rmSync(join(folder, NAME));
    } catch {
      // A mark of a process that is gone says nothing.
    }
  };
}

/** Undefined: there is none of a process that lives. Another one may have its number by now. */
export function readMark(folder: string): GatewayMark | undefined {
  try {
    const { pid, url, isGiven } = objectOf(JSON.parse(readFileSync(join(folder, NAME), "utf8")));
    const address = textOf(url) ?? "";
    const isAddress = /^https?:/.test(address) && URL.canParse(address);
    if (typeof pid !== "number" || !isAddress || !lives(pid)) return undefined;
    return { pid, url: address, isGiven: isGiven === true };
  } catch {
    return undefined;
  }
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
