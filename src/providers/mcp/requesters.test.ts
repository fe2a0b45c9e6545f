import { expect, test } from "vitest";
import { fakeCall } from "../../../tests/kit/fake-host.ts";
import { PEER } from "../../contract/index.ts";
import { Requesters } from "./requesters.ts";

type Caller = readonly [id: string, requester?: string];

const whose = (...callers: readonly Caller[]): Requesters => {
  const requesters = new Requesters();
  for (const [id, requester] of callers) {
    const origin = { front: "mcp", protocol: "x", requestId: "1", ...(requester !== undefined && { requester }) };
    requesters.note(fakeCall({ principal: { id }, origin }));
  }
  return requesters;
};

test.each<[string, Caller[], { isOne: boolean; principal: string | undefined }]>([
  ["nobody", [], { isOne: false, principal: undefined }],
  ["one", [["ann"], ["ann"]], { isOne: true, principal: "ann" }],
  ["two", [["ann"], ["bob"], ["ann"]], { isOne: false, principal: undefined }],
  [
    "one of a peer's callers",
    [
      ["peer", "a"],
      ["peer", "a"],
    ],
    { isOne: true, principal: undefined },
  ],
  [
    "two of a peer's callers",
    [
      ["peer", "a"],
      ["peer", "b"],
    ],
    { isOne: false, principal: undefined },
  ],
  ["a peer's caller and one of ours", [["peer", "a"], ["ann"]], { isOne: false, principal: undefined }],
  ["a peer that names nobody", [[PEER.id], [PEER.id]], { isOne: false, principal: undefined }],
  ["one, then a peer that names nobody", [["ann"], [PEER.id]], { isOne: false, principal: undefined }],
  [
    "two of another gateway's callers",
    [
      ["gwa", "a"],
      ["gwa", "b"],
    ],
    { isOne: false, principal: undefined },
  ],
  ["a gateway for itself and for one of its callers", [["gwa"], ["gwa", "a"]], { isOne: false, principal: undefined }],
  [
    "two whose names run into each other",
    [
      ["a", "b c"],
      ["a b", "c"],
    ],
    { isOne: false, principal: undefined },
  ],
])("calls of %s", (_name, callers, { isOne, principal }) => {
  const requesters = whose(...callers);
  expect([requesters.isOne, requesters.principal]).toEqual([isOne, principal]);
});
