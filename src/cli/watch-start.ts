/** Shows the servers of a gateway while they start, after another config as at first, and those that take longer. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ConfigChange, Gateway } from "../server/gateway-types.ts";
import { outputWidth, printText, sayText } from "./output/console.ts";
import { plainText } from "./output/plain.ts";
import { StartProgress } from "./output/start-progress.ts";
import { terminalFormat } from "./output/terminal-lines.ts";
import type { LogSink } from "./start.ts";
import { changeText } from "./summary.ts";

const POLL_MS = 100;
const LATE_MS = 120_000;

export type StartWatch = LogSink & {
  /** Resolves when each server has listed or failed once, at the latest after 5 s. */
  settled(gateway: Gateway): Promise<void>;
  /** From here on the log tells what happens. Also tells of servers that come later. */
  started(gateway: Gateway): void;
  /** Shows what another config has made of the servers. */
  changed(gateway: Gateway, change: ConfigChange): Promise<void>;
};

/** `isQuiet`: nothing is shown, the log is written as it comes. */
export function watchStart({ isQuiet }: { isQuiet: boolean }): StartWatch {
  const { stderr } = process;
  if (isQuiet) return { write: sayText, settled: (gateway) => gateway.settled(), started() {}, async changed() {} };
  return stderr.isTTY ? watchOnTerminal(stderr) : { ...watchElsewhere(printText), write: sayText };
}

/** Lines that change in place, and after a change of the config the table once more. */
function watchOnTerminal(terminal: NodeJS.WriteStream): StartWatch {
  let began = Date.now();
  let changes = 0;
  // The first summary shows a call of its own.
  let shown: readonly string[] = ["provider state", "call waits for a yes", "call finished"];
  let hasStarted = false;
  const progress = new StartProgress({
    write: (text) => terminal.write(text),
    terminal,
    now: () => Date.now() - began,
  });
  async function follow(gateway: Gateway, settled: Promise<void>): Promise<void> {
    const draw = () => progress.update(gateway.servers());
    const timer = setInterval(draw, POLL_MS);
    draw();
    try {
      await settled;
    } finally {
      clearInterval(timer);
      progress.end();
    }
  }
  return {
    write: (text) => progress.write(plainText(text)),
    format: terminalFormat((message) => shown.includes(message)),
    settled: (gateway) => follow(gateway, gateway.settled()),
    started() {
      hasStarted = true;
      shown = [];
    },
    async changed(gateway, change) {
      // Before that, the first table shows it; a file that was only touched shows nothing.
      if (!hasStarted || isNothing(change)) return;
      const number = ++changes;
      began = Date.now();
      shown = ["provider state"];
      await follow(
        gateway,
        allStarted(gateway, () => number !== changes),
      );
      // Another one has come meanwhile, and shows everything.
      if (number !== changes) return;
      shown = [];
      const shape = { width: outputWidth(), grantsNothing: gateway.grantsNothing() };
      sayText(changeText(gateway.servers(), change, shape));
    },
  };
}

function isNothing({ added, changed, removed, settings }: ConfigChange): boolean {
  return [added, changed, removed, settings].every(({ length }) => length === 0);
}

/** Resolves when no server is starting any more, at the latest after two minutes. */
async function allStarted(gateway: Gateway, isOver: () => boolean): Promise<void> {
  const deadline = Date.now() + LATE_MS;
  const isStarting = () => gateway.servers().some(({ status }) => status === "starting");
  while (isStarting() && !isOver() && Date.now() < deadline) await sleep(POLL_MS);
}

/** One line for each server that has started or failed. */
function watchElsewhere(write: (text: string) => void): Omit<StartWatch, "write"> {
  const began = Date.now();
  const progress = new StartProgress({ write, terminal: undefined, now: () => Date.now() - began });
  return {
    async settled(gateway) {
      const timer = setInterval(() => progress.update(gateway.servers()), POLL_MS);
      try {
        await gateway.settled();
      } finally {
        clearInterval(timer);
      }
      progress.update(gateway.servers());
    },
    started(gateway) {
      const late = () => gateway.servers().filter(({ id }) => waiting.has(id));
      const starting = gateway.servers().filter(({ status }) => status === "starting");
      const waiting = new Set(starting.map(({ id }) => id));
      const timer = setInterval(() => {
        progress.tellChanges(late());
        for (const { id, status } of late()) if (status !== "starting") waiting.delete(id);
        if (waiting.size === 0 || Date.now() - began > LATE_MS) clearInterval(timer);
      }, POLL_MS).unref();
    },
    async changed() {},
  };
}
