import type { Revision } from "../revision.ts";

/** Stateless: every request says who sends it and what it can do; questions are answers that ask for more input. */
export const revision20260728: Revision = {
  version: "2026-07-28",
  methods: new Set([
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "subscriptions/listen",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
  ]),
  hasBatches: false,
  primesStreams: false,
};
