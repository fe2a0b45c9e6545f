import type { Host } from "../../contract/index.ts";

/** What instances of single clients may say: what they offer to their own clients, and nothing about the server itself. */
export function clientsHost(host: Host): Host {
  return {
    offer: (scope, offers, effort) => (scope === "shared" ? undefined : host.offer(scope, offers, effort)),
    notice: (notice) => host.notice(notice),
    ask: (session, ask, signal) => host.ask(session, ask, signal),
    state() {},
  };
}

/** What the shared instance may say, as long as it is the one that is asked. Offers of the former one stay until it has listed. */
export function sharedHost(host: Host, isCurrent: () => boolean, onFirstOk: () => void): Host {
  let wasOk = false;
  return {
    offer: (scope, offers, effort) => (isCurrent() ? host.offer(scope, offers, effort) : undefined),
    notice(notice) {
      if (isCurrent()) host.notice(notice);
    },
    ask: (session, ask, signal) => host.ask(session, ask, signal),
    state(state) {
      if (!isCurrent()) return;
      host.state(state);
      if (state.status !== "ok" || wasOk) return;
      wasOk = true;
      onFirstOk();
    },
  };
}
