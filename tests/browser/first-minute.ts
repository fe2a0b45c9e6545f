/**
 * From an installed clone to the first call that somebody has approved on its page: every key and click that it takes, and
 * how long the machine lets a person wait. `npm run first-minute`, on a quiet machine, with Chromium.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ownEnvironment } from "../kit/own-home.ts";
import { freePort } from "../kit/servers/test-server.ts";
import { TestBrowser } from "./kit/browser.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Of somebody who types without hurry, and of one who looks before they click. */
const MS_PER_KEY = 200;
const MS_PER_CLICK = 2_000;
const LIMIT_MS = 60_000;

type Step = { readonly does: string; readonly typed: string; readonly clicks: number; readonly ms: number };

const port = await freePort();
const address = `127.0.0.1:${port}`;
// A home of its own, and a free port: this machine may run a gateway already.
const env = ownEnvironment({ ISTHMUS_LISTEN: address });
const steps: Step[] = [];

async function step<Result>(does: string, typed: string, clicks: number, act: () => Promise<Result>): Promise<Result> {
  const start = performance.now();
  const result = await act();
  steps.push({ does, typed, clicks, ms: performance.now() - start });
  return result;
}

/** Runs what is typed; resolves with what it prints, at the latest when `until` has been printed. */
function type(words: string, until?: string): Promise<{ text: string; stop: () => void }> {
  const [program = "", ...args] = words.split(" ");
  const child = spawn(program, args, { cwd: ROOT, env, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  return new Promise((resolve, reject) => {
    const done = () => resolve({ text, stop: () => void child.kill("SIGTERM") });
    child.stdout.setEncoding("utf8").on("data", (more: string) => {
      text += more;
      if (until !== undefined && text.includes(until)) done();
    });
    child.once("close", (code) => (until === undefined ? done() : reject(new Error(`${words}: ended with ${code}`))));
  });
}

await using browser = await TestBrowser.start();
await using visitor = await browser.visitor();
const { page } = visitor;
const gateway = await step("start it", "npm start", 0, () => type("npm start", "Stop with Ctrl-C."));
try {
  await step("open its page in a browser", address, 0, () => visitor.open(`http://${address}/`));
  await step("open the call that waits", "", 1, () =>
    visitor.follow(() => page.getByRole("link", { name: "demo.forget" }).click()),
  );
  const asked = "npm run -s isthmus -- operator token";
  const { text: token } = await step("in a second terminal, ask for your token and copy it", asked, 1, () =>
    type(asked),
  );
  await step("paste it, and sign in", "^V", 1, async () => {
    await page.getByLabel("Token of an operator").fill(token.trim());
    return await visitor.press("Sign in");
  });
  await step("approve", "", 1, () => visitor.press("Approve"));
  const called = "npm run -s isthmus -- call demo.forget name=Ada";
  const { text: answer } = await step("make the call again", called, 0, () => type(called));
  report(answer.trim());
} finally {
  gateway.stop();
}

function report(answer: string): void {
  const sum = (of: (step: Step) => number) => steps.reduce((total, one) => total + of(one), 0);
  const keysOf = ({ typed }: Step) => (typed === "" ? 0 : typed.length + 1);
  const handsMs = (one: Step) => keysOf(one) * MS_PER_KEY + one.clicks * MS_PER_CLICK;
  for (const one of steps) {
    const hands = `${String(keysOf(one)).padStart(3)} keys ${one.clicks} clicks`;
    process.stdout.write(`${one.does.padEnd(54)} ${hands} ${Math.round(one.ms)} ms\n`);
    if (one.typed !== "") process.stdout.write(`    ${one.typed} <Enter>\n`);
  }
  const whole = sum(({ ms }) => ms) + sum(handsMs);
  const hands = `${sum(keysOf)} keys, ${sum(({ clicks }) => clicks)} clicks`;
  process.stdout.write(`the answer: ${answer}\n`);
  process.stdout.write(
    `machine ${seconds(sum(({ ms }) => ms))}, hands ${seconds(sum(handsMs))} (${hands}), together ${seconds(whole)}\n`,
  );
  const isGood = /forgot/i.test(answer) && whole <= LIMIT_MS;
  process.stdout.write(`${isGood ? "PASS" : "FAIL"} at most ${seconds(LIMIT_MS)} after install\n`);
  process.exitCode = isGood ? 0 : 1;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
