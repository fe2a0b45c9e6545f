import { expect, test } from "vitest";
import { ApprovalRig } from "../../../tests/kit/approval-rig.ts";

test("of approvals that are over only the last are kept, those that wait all", async () => {
  const rig = new ApprovalRig();
  const waiting = await rig.request('{"kept":true}');
  for (let number = 0; number < 250; number++) await rig.approvals.withdraw(await rig.request(`{"n":${number}}`));
  const kept = await rig.rows.list({ limit: 1_000 });
  expect(kept).toHaveLength(201);
  expect(kept.at(-1)).toMatchObject({ id: waiting.id, state: "waiting" });
});
