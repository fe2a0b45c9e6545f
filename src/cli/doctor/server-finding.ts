/** What is wrong with a server, and what usually helps. */
import type { ServerConfig } from "../../server/config/index.ts";
import { unfilledVariables } from "../../server/config/references.ts";
import type { Gateway, ServerSummary } from "../../server/gateway-types.ts";
import { waitsForSignIn } from "../sign-in.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";
import { adviceForNetwork, type WayOut } from "./network-advice.ts";

export type TriedServer = {
  readonly server: Pick<ServerConfig, "id" | "transport" | "command" | "url" | "written">;
  /** What the tool is called by which its users sign in. */
  readonly signInTool: string;
  /** It wants credentials, and says where they are to be had. */
  readonly hasSignIn?: boolean;
  /** The config gives an Authorization for it. */
  readonly hasCredentials?: boolean;
  readonly summary: Pick<ServerSummary, "status" | "tools" | "message" | "lastWords">;
  readonly wayOut: WayOut;
  readonly tookMs: number;
  /** Names that the config speaks of, and that nothing has. */
  readonly misnamed: ReturnType<Gateway["misnamed"]>;
};

export function describeTried(tried: TriedServer): Finding {
  const { server, summary, tookMs } = tried;
  const what = `servers.${server.id}`;
  const { status, message = "it does not say why", lastWords = [] } = summary;
  if (status === "ok") return describeOk(what, tried);
  const { signInTool } = tried;
  // Who of them has done it, nobody is told.
  if (waitsForSignIn(status, message))
    return message.startsWith("Each of")
      ? ok(what, `each user signs in once: call the tool ${signInTool}`)
      : warning(what, "it waits for a sign-in", `call the tool ${signInTool}: it is done once`);
  const said = lastWords.length === 0 ? "" : `; it last wrote: ${lastWords.map((line) => line.trim()).join(" | ")}`;
  const known = adviceForNetwork(lastWords, tried.wayOut);
  if (status === "starting") {
    const found = `said nothing within ${Math.round(tookMs / 1000)} s${said}`;
    return problem(what, found, known ?? adviceForSilence(server));
  }
  const [variable] = unfilledVariables(server.url ?? "");
  if (variable !== undefined) {
    const found = `${message.replace(/\.$/, "")}; its url is taken as it is written, with \${${variable}} in it`;
    return problem(
      what,
      found,
      `write the address, or \${${variable}:-DEFAULT}: only with a default is a url filled in`,
    );
  }
  return problem(what, `${message}${said}`, known ?? adviceForMissing(lastWords) ?? adviceFor(tried, message));
}

/** What Node and Python write where the script itself is not there. A module that a script imports has a name, or who imports it. */
const MISSING = /(?:Cannot find module|can't open file) '(?:\/|[A-Za-z]:\\)[^']+'(?! imported)/;

function adviceForMissing(lastWords: readonly string[]): string | undefined {
  if (!lastWords.some((line) => MISSING.test(line))) return undefined;
  return "there is no such file: relative paths start in the folder of the config, or in cwd where the server has one";
}

function describeOk(what: string, { server, summary: { tools, message } }: TriedServer): Finding {
  const count = tools === 1 ? "1 tool" : `${tools} tools`;
  if (message === undefined) return ok(what, count);
  const [, found = message, key] = /^(.*): raise (\w+) of the server$/.exec(message) ?? [];
  const advice = key === undefined ? "ask whoever makes the server" : `raise ${key} of the server "${server.id}"`;
  return warning(what, `${count}, but ${found}`, advice);
}

function adviceForSilence({ transport, command }: TriedServer["server"]): string {
  if (transport !== "stdio") return "check that its url is an MCP endpoint, and that it answers at all";
  const isRunner = /(?:^|[/\\])(?:npx|uvx|bunx|pnpm|docker)(?:\.cmd|\.exe)?$/.test(command ?? "");
  if (isRunner) return "the first start may download it: run its command once by hand, then try --timeout 60s";
  return "run its command by hand: an MCP server over stdio waits for messages, and answers them";
}

/** By what the gateway says about a failed start; the first that fits. */
const ADVICE: readonly { message: RegExp; advice: (server: TriedServer["server"], tried: TriedServer) => string }[] = [
  {
    message: /the environment variable .* is not set/,
    advice: () =>
      'set it where the gateway is started, or in a file that -e FILE names, or write { fromFile = "path" } instead',
  },
  {
    message: /^servers\..*: the file "/,
    advice: () => "write the file, or correct its path; a gateway that runs takes it then",
  },
  {
    message: /command not found/,
    advice: ({ command = "" }) =>
      /\S\s+\S/.test(command) ? adviceForWords(command) : `install ${command}, or write its whole path as command`,
  },
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
    advice: ({ id }, { hasSignIn, hasCredentials }) => {
      const token = hasCredentials
        ? `check the Authorization in [servers.headers] of "${id}": the token, and that it is "Bearer \${NAME}", with the word`
        : `give it a token: [servers.headers] Authorization = "Bearer \${NAME}" for "${id}"`;
      return hasSignIn ? `${token}; or let each user sign in: [servers.auth] type = "oauth"` : token;
    },
  },
  { message: /HTTP 404|HTTP 405/, advice: () => "correct the path of its url; MCP is often at /mcp" },
  { message: /HTTP 5\d\d/, advice: () => "the server itself fails; look at its log" },
  {
    message: /ERR_SSL_WRONG_VERSION_NUMBER/,
    advice: ({ url = "" }) => `use ${url.replace(/^https:/i, "http:")}: what answers there does not speak TLS`,
  },
  {
    message: /ENOTFOUND|EAI_AGAIN/,
    advice: ({ url = "" }) => `the name ${hostOf(url)} does not resolve: correct its url, or the machine's DNS`,
  },
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

/** A command is one program: no shell takes its words apart. */
function adviceForWords(command: string): string {
  const [program, ...args] = command.trim().split(/\s+/);
  const words = args.map((arg) => JSON.stringify(arg)).join(", ");
  return `write command = ${JSON.stringify(program)} and args = [${words}]: command is the program alone`;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : url;
}

function adviceFor(tried: TriedServer, message: string): string {
  // As it stands in the config: what a variable holds may be a secret.
  const server = { ...tried.server, ...tried.server.written };
  const row = ADVICE.find((one) => one.message.test(message));
  if (row) return row.advice(server, tried);
  return server.transport === "stdio"
    ? "run its command by hand and look at what it says"
    : "check its url, and its log";
}
