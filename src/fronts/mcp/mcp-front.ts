/** MCP for clients, 2024-11-05 to 2026-07-28, on every transport it has. The server owns the socket and routes paths. */
import { randomUUID } from "node:crypto";
import type { HttpRequest, HttpResponse, Principal } from "../../contract/index.ts";
import type { FrontContext, McpFrontConfig, McpPorts } from "./front-context.ts";
import { createHttpTransport } from "./http/http-transport.ts";
import { handleConfirm } from "./mcpax/confirm-http.ts";
import { AuditListeners } from "./mgp/audit-listeners.ts";
import { createModern } from "./modern/create-modern.ts";
import { createSlicedPass } from "./sliced-pass.ts";
import { createSseTransport } from "./sse/sse-transport.ts";
import { type StdioOptions, type StdioServing, serveStdio } from "./stdio/stdio-transport.ts";
import { dropUnreachable, subscribeAgain } from "./subscribe-call.ts";
import { createVoice } from "./voice.ts";

/** mcp: Streamable HTTP; sse and messages: the two endpoints of 2024. */
export type McpPathKind = "mcp" | "sse" | "messages";

export interface McpFront {
  /** `catalog` "" is everything the caller may see. The response is always ended, sooner or later. */
  handle(request: HttpRequest, response: HttpResponse, catalog: string, kind: McpPathKind): void;
  /** `POST /mcpax/confirm`. */
  confirm(request: HttpRequest, response: HttpResponse): void;
  stdio(options: StdioOptions): StdioServing;
  /** These providers were replaced: what clients subscribed to there is subscribed to again. */
  subscribeAgain(providers: ReadonlySet<string>): Promise<void>;
  /** Callers may reach something else than before: they hear no more of what they may not see. Looked at in slices. */
  reachChanged(): void;
  /** Ends the streams of these callers that do not end with a session: streams of 2024, and those that listen in 2026. */
  drop(isMeant: (principal: Principal) => boolean): void;
  /** Calls that wait for input and for nothing else: their client may never come back, so a drain does not wait. */
  readonly waiting: number;
  /** This process is about to stop: what is new is served by another one, or asked to come again. */
  leave(): void;
  /** Lets go of timers and connections. Runs and sessions are closed by their owners, runs first. Safe to call twice. */
  close(): void;
}

export function createMcpFront(options: McpPorts & { readonly config: McpFrontConfig }): McpFront {
  const alone = randomUUID();
  const auditListeners = new AuditListeners(options.mgp);
  const front: FrontContext = {
    ...options,
    auditListeners,
    holder: options.cluster?.member ?? (() => alone),
    voice: createVoice(options.catalog, (session) => auditListeners.remove(session)),
    readyCatalogs: new Set(),
  };
  const modern = createModern(front);
  const http = createHttpTransport(front, modern);
  const sse = createSseTransport(front);
  const serving = new Set<StdioServing>();
  return {
    handle(request, response, catalog, kind) {
      if (kind === "mcp") http.handle(request, response, catalog);
      else if (kind === "sse") sse.handleStream(request, response, catalog);
      else sse.handleMessage(request, response, catalog);
    },
    confirm(request, response) {
      if (front.confirmations) return handleConfirm(front, front.confirmations, request, response);
      request.discard();
      response.answer(404, "", "");
    },
    stdio(stdioOptions) {
      const served = serveStdio(front, modern, stdioOptions);
      serving.add(served);
      return served;
    },
    subscribeAgain: (providers) => subscribeAgain(front, providers),
    reachChanged: createSlicedPass(front, function* look() {
      yield* dropUnreachable(front);
      yield* modern.listeners.dropUnreachable();
    }),
    drop(isMeant) {
      modern.listeners.drop(isMeant);
      sse.drop(isMeant);
    },
    get waiting() {
      return modern.rounds.size + front.tasks.waiting;
    },
    leave: () => http.leave(),
    close() {
      modern.listeners.close();
      modern.rounds.close();
      auditListeners.close();
      http.close();
      sse.close();
      for (const served of serving) served.close();
    },
  };
}
