/** What every provider promises, whatever stands behind it. */
import { describe, expect, test } from "vitest";
import { type Call, GatewayError, type Provider } from "../../src/contract/index.ts";
import { FakeHost, FakeOut, fakeSession } from "./fake-host.ts";

export type ProviderSubject = {
  readonly provider: Provider;
  /** A call that ends by itself with a result. */
  quickCall(): Call;
  /** A call that runs until it is cancelled. */
  endlessCall(): Call;
  /** Ends what stands behind the provider. */
  stop?(): Promise<void> | void;
};

export function describeProvider(name: string, make: () => Promise<ProviderSubject> | ProviderSubject): void {
  async function withSubject(body: (subject: ProviderSubject, host: FakeHost) => Promise<void>): Promise<void> {
    const subject = await make();
    const host = new FakeHost();
    try {
      await subject.provider.open(host, new AbortController().signal);
      await body(subject, host);
    } finally {
      await subject.provider.close();
      await subject.stop?.();
    }
  }

  describe(`${name} as a provider`, () => {
    test("has offered and is ok when open resolves", () =>
      withSubject(async (_, host) => {
        expect(host.status).toBe("ok");
        expect(host.offers.get("shared")?.size).toBeGreaterThan(0);
      }));

    test("runs a call to exactly one end", () =>
      withSubject(async ({ provider, quickCall }) => {
        const out = new FakeOut();
        await provider.run(quickCall(), out);
        expect(out.ends).toEqual([expect.objectContaining({ type: "end", outcome: "result" })]);
        expect(out.events.at(-1)).toBe(out.ends[0]);
      }));

    test("runs calls side by side, each to its own end", () =>
      withSubject(async ({ provider, quickCall }) => {
        const outs = Array.from({ length: 20 }, () => new FakeOut());
        await Promise.all(outs.map((out) => provider.run(quickCall(), out)));
        expect(outs.map((out) => out.ends.length)).toEqual(outs.map(() => 1));
      }));

    test("writes no end for a cancelled call, and lets go of it when it closes", () =>
      withSubject(async ({ provider, endlessCall }) => {
        const out = new FakeOut();
        const call = endlessCall();
        const running = provider.run(call, out).catch((error: unknown) => error);
        await new Promise((resolve) => setTimeout(resolve, 20)); // so that it is under way
        provider.reply(call.id, { type: "cancel", reason: "enough" });
        await provider.close();
        expect(await running).toMatchObject({ code: "CANCELLED" });
        expect(out.ends).toEqual([]);
      }));

    test("takes replies to calls it does not know", () =>
      withSubject(async ({ provider }) => {
        provider.reply("unknown", { type: "cancel" });
        provider.reply("unknown", { type: "answer", answers: [] });
      }));

    test("lets go of a session it never heard of", () =>
      withSubject(async ({ provider }) => {
        provider.release(fakeSession("unknown"));
      }));

    test("closes twice, and calls in flight end with it", () =>
      withSubject(async ({ provider, endlessCall }) => {
        const running = provider.run(endlessCall(), new FakeOut()).catch((error: unknown) => error);
        await Promise.all([provider.close(), provider.close()]);
        await provider.close();
        expect(GatewayError.is(await running)).toBe(true);
      }));

    test("fails calls after its close with an error of ours", () =>
      withSubject(async ({ provider, quickCall }) => {
        await provider.close();
        const error = await provider.run(quickCall(), new FakeOut()).catch((thrown: unknown) => thrown);
        expect(GatewayError.is(error)).toBe(true);
      }));
  });
}
