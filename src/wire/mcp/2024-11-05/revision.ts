import type { Revision } from "../revision.ts";

export const revision20241105: Revision = {
  version: "2024-11-05",
  methods: new Set([
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
  ]),
  hasBatches: false,
  primesStreams: false,
};
