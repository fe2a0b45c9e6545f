/** The client of the official Python SDK, asked through a small program of its own. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathOf } from "../../needs/need.ts";
import { pythonSdk } from "../../needs/programs.ts";
import type { Connect, RealClient } from "./part.ts";

const PROGRAM = join(import.meta.dirname, "python_client.py");

export const connectPython: Connect = async ({ url }): Promise<RealClient> => {
  const child = spawn(pathOf(pythonSdk), [PROGRAM, url], { stdio: ["pipe", "pipe", "pipe"] });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(-4_000);
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  // It answers in order, so a question waits for the one before it.
  let last: Promise<unknown> = Promise.resolve();
  const ask = (question: object) => {
    const answer = last.then(async () => {
      child.stdin.write(`${JSON.stringify(question)}\n`);
      const { value, done } = await answers.next();
      if (done === true) throw new Error(`the Python client ended:\n${complaint}`);
      return JSON.parse(value);
    });
    last = answer.catch(() => {});
    return answer;
  };
  return {
    list: () => ask({}),
    call: (name, args) => ask({ name, arguments: args }),
    async close() {
      child.stdin.end();
      await ended;
    },
  };
};
