import { expect, test } from "vitest";
import { FakeCatalog, FakeView, okProvider } from "../../../tests/kit/fake-catalog.ts";
import { LOCAL, type Notice, payload } from "../../contract/index.ts";
import { MAX_KEPT_TEXT, Session } from "../../mechanisms/sessions/index.ts";
import { createVoice } from "./voice.ts";

const METHOD = "notifications/resources/updated";
const updated = (more: string): Notice => ({
  from: "files",
  to: { resource: "doc://a/b" },
  method: METHOD,
  payload: payload(`{"uri":"doc://a/b"${more}}`),
});

function heard(notice: Notice, shown: string) {
  const resource = { kind: "resource", name: shown } as const;
  const voice = createVoice(new FakeCatalog(new FakeView(1, [okProvider("files")], [resource])));
  const opening = { voice, principal: LOCAL, catalog: "", protocol: "", canBeAsked: false };
  const session = new Session("s", { ...opening, capabilities: payload("{}"), clientInfo: payload("{}") }, 0, false);
  session.subscriptions = new Map([["files doc://a", { provider: "files", own: "doc://a", shown }]]);
  return voice.notice(session, notice);
}

test("all who know a resource by the same name are told in one text, others in theirs", () => {
  const notice = updated(',"more":1');
  const [first, second, third] = [heard(notice, "doc://a"), heard(notice, "doc://a"), heard(notice, "files+doc://a")];
  expect(first).toBe(second);
  expect(first).toEqual({
    type: "updated",
    key: "doc://a/b",
    text: `{"jsonrpc":"2.0","method":"${METHOD}","params":{"uri":"doc://a/b","more":1}}`,
  });
  expect(third?.text).toBe(`{"jsonrpc":"2.0","method":"${METHOD}","params":{"uri":"files+doc://a/b","more":1}}`);
});

test("what is long has a brief: which resource it is", () => {
  const item = heard(updated(`,"more":"${"m".repeat(MAX_KEPT_TEXT)}"`), "doc://a");
  expect(item?.text.length).toBeGreaterThan(MAX_KEPT_TEXT);
  expect(item?.brief).toBe(`{"jsonrpc":"2.0","method":"${METHOD}","params":{"uri":"doc://a/b"}}`);
});
