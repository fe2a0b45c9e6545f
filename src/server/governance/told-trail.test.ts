import { expect, test } from "vitest";
import { untracked } from "../../contract/index.ts";
import { toldTrail } from "./told-trail.ts";

test("those who listen hear of addresses only where they lead, as the trail has them", async () => {
  const { trail, feed } = toldTrail(untracked(async () => true));
  const heard: string[] = [];
  feed.listen(({ json }) => heard.push(json));
  const event = {
    type: "TOOL_BLOCKED",
    tenant: "default",
    actor: { type: "agent", id: "ann" },
    target: { server: "web", name: "https://h.test/x?token=hunter2" },
    result: "DENIED",
    details: { tool: "web.https://h.test/x?token=hunter2" },
  } as const;
  trail.note(event);
  await trail.commit(event, []);
  expect(heard.map((json) => JSON.parse(json).target.name)).toEqual(["https://h.test/x", "https://h.test/x"]);
  expect(heard.join("")).not.toContain("hunter2");
});
