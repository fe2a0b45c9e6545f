import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

export type PeerWork = {
  readonly role: "open" | "take" | "send" | "put" | "drop";
  readonly place: string;
  /** Where it sends to. */
  readonly target?: string;
  /** The moment at which it kills itself. */
  readonly point?: string;
};

/** Another process at the same database; resolves to what it said, or to "killed" at its point; rejects when it fails. */
export async function runPeer(work: PeerWork): Promise<string> {
  const child = spawn(process.execPath, [`${import.meta.dirname}/peer.ts`, JSON.stringify(work)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  const [out, err, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (signal === "SIGKILL") return "killed";
  if (code !== 0) throw new Error(`peer ended with ${code}: ${err}`);
  return out.trim();
}
