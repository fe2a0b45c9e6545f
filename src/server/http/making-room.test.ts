import { describe, expect, test } from "vitest";
import { type Occupant, type Use, whoGivesWay } from "./making-room.ts";

type Client = Occupant & {
  readonly id: number;
  readonly name?: string;
  readonly tenant?: string;
  readonly address: string;
};
type Told = { name?: string; tenant?: string; address?: string; since?: number };

function rig(most = 64) {
  const clients: Client[] = [];
  const add = (count: number, use: Use, { since = 0, address = "1.1.1.1", ...told }: Told = {}) => {
    for (let left = count; left > 0; left--) clients.push({ id: clients.length, use, since, address, ...told });
  };
  const holderOf = ({ name, address }: Client) => ({ name: name ?? `address ${address}` });
  const callerOf = ({ name, tenant }: Client) =>
    name === undefined ? undefined : { name, ...(tenant !== undefined && { group: tenant }) };
  return { add, giving: () => whoGivesWay({ clients, most, tick: 10, holderOf, callerOf }).map(({ id }) => id) };
}

describe("where there are as many connections as there may be", () => {
  test("those give way that have been idle for longest, and not more than are needed to look seldom", () => {
    const { add, giving } = rig(128);
    add(40, "busy", { name: "ann" });
    add(30, "stalled");
    add(1, "idle", { since: 5 });
    add(2, "idle", { since: 3 });
    add(2, "idle", { since: 4 });
    expect(giving()).toEqual([71, 72]);
  });

  test("then the newest of a caller who has more than a quarter, however they are used", () => {
    const { add, giving } = rig();
    add(12, "busy", { name: "bob" });
    add(15, "busy", { name: "ann", since: 1 });
    add(1, "busy", { name: "ann", since: 3 });
    add(1, "stalled", { name: "ann", since: 2 });
    add(20, "stalled");
    expect(giving()).toEqual([27]);
  });

  test("and the newest of the busiest of a tenant that has more than half", () => {
    const { add, giving } = rig();
    add(16, "busy", { name: "eve", tenant: "acme" });
    add(8, "busy", { name: "ann", tenant: "acme" });
    add(9, "busy", { name: "bob", tenant: "acme" });
    add(10, "stalled");
    expect(giving()).toEqual([15]);
  });

  test("then those that wait for their client, of whoever has most of them, the longest first", () => {
    const { add, giving } = rig();
    add(3, "stalled", { since: 1 });
    add(3, "stalled", { address: "2.2.2.2", since: 3 });
    add(1, "stalled", { address: "2.2.2.2", since: 2 });
    add(16, "busy", { name: "bob" });
    expect(giving()).toEqual([6]);
  });

  test("among them who has only just come, last of its address, and none of an address that has fewer", () => {
    const { add, giving } = rig();
    add(2, "idle", { since: 10, address: "2.2.2.2" });
    add(1, "stalled", { since: 10 });
    add(1, "idle", { since: 9 });
    add(1, "idle", { since: 10 });
    expect(giving()).toEqual([3]);
  });

  test("and where each of many keeps as many of them waiting, a look finds several", () => {
    const { add, giving } = rig(640);
    for (let place = 0; place < 20; place++) add(1, "stalled", { address: `10.0.0.${place}` });
    expect(giving()).toHaveLength(10);
  });

  test("nobody gives way where all are busy and have their shares, or are not known by name", () => {
    const { add, giving } = rig();
    for (const name of ["ann", "bob", "carl"]) add(16, "busy", { name });
    add(40, "busy");
    expect(giving()).toEqual([]);
  });
});
