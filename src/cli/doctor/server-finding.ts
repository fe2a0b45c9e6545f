/** What is wrong with a server, and what usually helps. */
import type { ServerConfig } from "../../server/config/index.ts";
import type { ServerSummary } from "../../server/gateway-types.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

export type TriedServer = {
  readonly server: Pick<ServerConfig, "id" | "transport" | "command" | "url">;
  readonly summary: Pick<ServerSummary, "status" | "tools" | "message">;
  /** What it wrote to standard error last. */
  readonly lastLine: string | undefined;
  readonly tookMs: number;
};

export function describeTried(tried: TriedServer): Finding {
  const { server, summary, lastLine, tookMs } = tried;
  const what = `servers.${server.id}`;
  const { status, message = "it does not say why" } = summary;
  if (status === "ok") return describeOk(what, tried);
  const said = lastLine === undefined ? "" : `; it last wrote: ${lastLine}`;
  if (status === "starting") {
    return problem(what, `said nothing within ${Math.round(tookMs / 1000)} s${said}`, adviceForSilence(server));
  }
  return problem(what, `${message}${said}`, adviceFor(tried, message));
}

function describeOk(what: string, { summary: { tools, message } }: TriedServer): Finding {
  const count = tools === 1 ? "1 tool" : `${tools} tools`;
  if (message !== undefined) return warning(what, `${count}, but ${message}`, "ask whoever makes the server");
  return ok(what, count);
}

function adviceForSilence({ transport, command }: TriedServer["server"]): string {
  if (transport !== "stdio") return "check that its url is an MCP endpoint, and that it answers at all";
  const isRunner = /(?:^|[/\\])(?:npx|uvx|bunx|pnpm|docker)(?:\.cmd|\.exe)?$/.test(command ?? "");
  if (isRunner) return "the first start may download it: run its command once by hand, then try --timeout 60s";
  return "run its command by hand: an MCP server over stdio waits for messages, and answers them";
}

/** By what the gateway says about a failed start; the first that fits. */
const ADVICE: readonly { message: RegExp; advice: (server: TriedServer["server"]) => string }[] = [
  { message: /command not found/, advice: ({ command }) => `install ${command}, or write its whole path as command` },
  {
    message: /not executable/,
    advice: ({ command }) => `make it executable (chmod +x ${command}), or start it through its interpreter`,
  },
  { message: /the directory .* does not exist/, advice: () => "correct cwd, or make the directory" },
  { message: /cannot start/, advice: () => "correct command" },
  {
    message: /exited with code|ended by|ended at once|ended the session/,
    advice: () => "run its command by hand; often an argument or a variable under env is missing",
  },
  {
    message: /credentials|HTTP 40[13]/,
    advice: ({ id }) => `give it a token: [servers.headers] Authorization = { fromEnv = "NAME" } for "${id}"`,
  },
  { message: /HTTP 404|HTTP 405/, advice: () => "correct the path of its url; MCP is often at /mcp" },
  { message: /HTTP 5\d\d/, advice: () => "the server itself fails; look at its log" },
  { message: /cannot be reached/, advice: ({ url }) => `start it, or correct its url: nothing answers at ${url}` },
  {
    message: /not valid HTTP|not a valid message|without a message|no known revision|line of more than|not JSON/,
    advice: ({ transport }) =>
      transport === "stdio"
        ? "it writes something other than MCP to standard output; logs belong on standard error"
        : "its url answers, but not with MCP; correct it",
  },
  { message: /does not speak MCP|speaks MCP/, advice: () => "leave out era, or upgrade the server" },
  { message: /did not answer within/, advice: (server) => adviceForSilence(server) },
];

function adviceFor({ server }: TriedServer, message: string): string {
  const row = ADVICE.find((one) => one.message.test(message));
  if (row) return row.advice(server);
  return server.transport === "stdio"
    ? "run its command by hand and look at what it says"
    : "check its url, and its log";
}
