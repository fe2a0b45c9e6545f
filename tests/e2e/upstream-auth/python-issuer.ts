/** A server on the Python SDK that is its own authorization server, in a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { pathOf } from "../../needs/need.ts";
import { pythonSdk, pythonSdk1 } from "../../needs/programs.ts";
import { freePort } from "../identity/workspace.ts";

const PROGRAM = fileURLToPath(new URL("python_issuer.py", import.meta.url));

export class PythonIssuer implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(version: 1 | 2, behaviour: "gives" | "refuses" = "gives"): Promise<PythonIssuer> {
    const port = await freePort();
    const child = spawn(pathOf(version === 1 ? pythonSdk1 : pythonSdk), [PROGRAM, String(port), behaviour], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    for await (const part of child.stderr.setEncoding("utf8")) {
      said += part;
      if (said.includes("Uvicorn running")) break;
    }
    if (!said.includes("Uvicorn running")) throw new Error(said);
    return new PythonIssuer(child, `http://127.0.0.1:${port}/mcp`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#child, "exit");
    this.#child.kill();
    await gone;
  }
}
