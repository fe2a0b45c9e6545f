import { describe, expect, test } from "vitest";
import { ScriptedProvider } from "../../../tests/kit/scripted-provider.ts";
import { listed } from "../../../tests/kit/test-catalog.ts";
import { flush, testKernel } from "../../../tests/kit/test-kernel.ts";
import { type Access, type Entry, type Notice, type Provider, payload, type SessionRef } from "../../contract/index.ts";

const ann: SessionRef = {
  id: "s1",
  principal: { id: "ann" },
  catalog: "",
  protocol: "2025-11-25",
  capabilities: payload("{}"),
  clientInfo: payload("{}"),
  canBeAsked: false,
  isEphemeral: false,
};

/** Everybody reaches these servers, of which there may be others any time. */
class Reachable implements Access {
  servers: readonly string[] = [];
  tells = () => true;

  reachOf() {
    const { servers } = this;
    return {
      key: servers.join(),
      hasRaw: false,
      conceals: true,
      hears: () => true,
      reaches: ({ target }: Entry) => servers.includes(target.provider),
      reachesProvider: (provider: string) => servers.includes(provider),
      refused: () => undefined,
    };
  }
}

class WatchedProvider extends ScriptedProvider {
  readonly entered: string[] = [];
  readonly heard: string[] = [];

  override scope: Provider["scope"] = async ({ id }) => {
    this.entered.push(id);
    return "shared";
  };

  override notify(...[, method]: Partial<Parameters<Provider["notify"]>>): void {
    this.heard.push(method ?? "");
  }
}

async function rig() {
  const access = new Reachable();
  const notices: Notice[] = [];
  const [files, mail] = [new WatchedProvider("files", ["read"]), new WatchedProvider("mail", ["send"])];
  const sessions = {
    notice: (notice: Notice) => void notices.push(notice),
    ask: () => Promise.reject(new Error("no way to the client")),
  };
  const { kernel, time } = await testKernel([files, mail], { access, sessions });
  time.advance(100);
  notices.length = 0;
  return { access, kernel, time, files, mail, notices };
}

describe("a change of what callers may reach", () => {
  test("gives new views, and a word to every session that may see another list", async () => {
    const { access, kernel, time, notices } = await rig();
    access.servers = ["files"];
    const before = kernel.catalog.view("", ann.principal, ann);
    expect(listed(before, "tool")).toEqual(["files.read"]);
    access.servers = ["files", "mail"];
    kernel.reachChanged();
    const after = kernel.catalog.view("", ann.principal, ann);
    expect(listed(after, "tool")).toEqual(["files.read", "mail.send"]);
    expect(after.version).toBeGreaterThan(before.version);
    time.advance(100);
    expect(notices.map(({ from, method }) => [from, method])).toEqual([
      ["files", "catalog/changed"],
      ["mail", "catalog/changed"],
    ]);
  });

  test("lets a session in at a server when it may reach it, and not before", async () => {
    const { access, kernel, files, mail } = await rig();
    access.servers = ["files"];
    await kernel.catalog.enter("", ann);
    expect([files.entered, mail.entered]).toEqual([["s1"], []]);
    access.servers = ["files", "mail"];
    kernel.reachChanged();
    await flush();
    expect([files.entered, mail.entered]).toEqual([["s1"], ["s1"]]);
  });

  test("keeps what a client says from servers that it may not reach", async () => {
    const { access, kernel, files, mail } = await rig();
    access.servers = ["mail"];
    kernel.catalog.notify("", ann, "notifications/roots/list_changed", payload("{}"));
    expect([files.heard, mail.heard]).toEqual([[], ["notifications/roots/list_changed"]]);
  });

  test("keeps servers from asking clients that may not reach them any more", async () => {
    const { access, kernel, files } = await rig();
    access.servers = ["files"];
    await kernel.catalog.enter("", ann);
    const ask = { key: "a", kind: "roots", method: "roots/list", input: payload("{}") } as const;
    const asked = () => files.host?.ask(ann, ask, new AbortController().signal);
    await expect(asked()).rejects.toThrow("no way to the client");
    access.servers = [];
    await expect(asked()).rejects.toMatchObject({ code: "NOT_ALLOWED" });
  });

  test("does not keep operators from what there is", async () => {
    const { kernel } = await rig();
    expect(listed(kernel.whole(""), "tool")).toEqual(["files.read", "mail.send"]);
    expect(kernel.offered().map(({ name }) => name)).toEqual(["files.read", "mail.send"]);
  });
});
