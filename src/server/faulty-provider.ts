import { GatewayError, type Provider } from "../contract/index.ts";

/** Stands for a server whose table cannot be used: it offers nothing, and says why. */
export function faultyProvider(id: string, fault: string): Provider {
  return {
    id,
    async open(host) {
      host.state({ status: "invalid", message: fault });
    },
    run: () => Promise.reject(new GatewayError("PROVIDER_UNREACHABLE", { message: fault })),
    reply() {},
    scope: () => Promise.resolve("shared"),
    notify() {},
    upstreamCount: () => 0,
    release() {},
    close: () => Promise.resolve(),
  };
}
