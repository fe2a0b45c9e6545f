import { isIPv4, type Server } from "node:net";

/** What every `listen` of Node ends in. It is not documented, but as old as Node; where it is gone, nothing is lost but time. */
type Bindable = { _listen2?(address: string, port: number, family: 4, backlog: number): void };

/** The same that Node takes by default. */
const BACKLOG = 511;

/**
 * Listens; the server emits `listening` or `error`, as ever. An IPv4 address is bound without Node's detour: it would look
 * the address up, compile a large expression to find that it is no IPv6 one, and load `cluster`. That was 3 ms of a start.
 */
export function listenOn(server: Server & Bindable, host: string, port: number): void {
  if (server._listen2 && isIPv4(host)) server._listen2(host, port, 4, BACKLOG);
  else server.listen({ host, port });
}
