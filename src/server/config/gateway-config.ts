/** The `[gateway]` table: the process itself. */
import * as z from "zod";
import { meantNetwork, parseNetwork } from "../http/ip-network.ts";
import { LOG_LEVELS } from "../log-level.ts";
import { durationMs, sizeBytes } from "./amounts.ts";
import { edgeSchema } from "./limits-config.ts";
import { parseListen } from "./listen-address.ts";
import { secretReference } from "./reference-schema.ts";
import { tlsSchema } from "./tls-config.ts";

const listen = z.string().refine((text) => parseListen(text) !== undefined, {
  error: 'expected HOST:PORT such as "127.0.0.1:7411"',
});

/** As browsers write it; "null" is that of every sandboxed frame, and no page's own. */
const origin = z.string().refine((text) => /^[a-z][a-z\d+.-]*:\/\/[^/?#\s*]+$/i.test(text), {
  error: 'expected an origin such as "https://app.example.org", with nothing after the host and its port',
});

const network = z.string().check((context) => {
  if (parseNetwork(context.value) !== undefined) return;
  const meant = meantNetwork(context.value);
  context.issues.push({
    code: "custom",
    input: context.value,
    message: 'expected an address or a network such as "10.0.0.0/8"',
    ...(meant !== undefined && { params: { meant } }),
  });
});

export const gatewaySchema = z
  .strictObject({
    listen: listen
      .default("127.0.0.1:7411")
      .describe(
        "Where to listen, as HOST:PORT. Beyond loopback addresses only with a way to authenticate in `[auth]`.",
      ),
    tls: tlsSchema.optional(),
    edge: edgeSchema.optional(),
    naming: z
      .enum(["dotted", "underscore"])
      .default("dotted")
      .describe(
        'How names of tools and prompts look: "files.read", or "files__read" and never over 64 characters, for clients whose model takes no others.',
      ),
    sessions: z
      .enum(["auto", "stateful"])
      .default("auto")
      .describe('"auto" serves a 2025 request without a session id as ephemeral; "stateful" answers it with 400.'),
    allowedHosts: z
      .array(z.string())
      .default([])
      .describe("Values of the Host header accepted beside the loopback names."),
    allowedOrigins: z
      .array(origin)
      .default([])
      .describe(
        "Origins of browser pages that may be MCP clients (CORS). What loopback origins send is taken, but only a listed page is shown the answer. A missing Origin passes.",
      ),
    trustedProxies: z
      .array(network)
      .default([])
      .describe(
        "Proxies in front, as addresses or networks such as 10.0.0.0/8. What they say in X-Forwarded-For or Forwarded is believed, and the log names the addresses of clients; nobody else is believed.",
      ),
    sse: z.boolean().default(false).describe("Whether /sse and /messages of MCP 2024-11-05 are served."),
    pageSize: z.int().min(1).optional().describe("Entries per page of a list. Unset: lists come in one answer."),
    maxBody: sizeBytes.prefault("4MiB").describe("The largest message taken from a client."),
    timeout: durationMs.prefault("60s").describe("How long a call may take; a server's own `timeout` goes before it."),
    inputTimeout: durationMs
      .prefault("10m")
      .describe("How long a question waits for its answer before the call is given up."),
    sessionIdle: durationMs
      .prefault("30m")
      .describe("How long a client's session is kept without requests, running calls or an open stream."),
    sessionAge: durationMs.prefault("24h").describe("How long a client's session may live, however much it is used."),
    resumeWindow: durationMs
      .prefault("5m")
      .describe("How long the answer of a call is kept for a client whose stream broke off."),
    drain: durationMs.prefault("10s").describe("How long open calls may go on after the gateway was told to stop."),
    sealKey: secretReference
      .optional()
      .describe(
        "What seals the state that clients of MCP 2026-07-28 bring back, at least 32 bytes. Unset: random at each start.",
      ),
    state: z
      .string()
      .min(1)
      .optional()
      .describe(
        "The folder in which the gateway keeps what it must remember, such as pins. Relative to the config file; by default `.isthmus` beside it.",
      ),
    logLevel: z.enum(LOG_LEVELS).default("info").describe("The least important lines that are written."),
  })
  .describe("The process itself.");
