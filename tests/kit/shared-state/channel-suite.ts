import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { fresh, type SharedStateRig, type StartRig } from "./shared-state-rig.ts";

export function channelSuite(start: StartRig): void {
  let rig: SharedStateRig;
  beforeAll(async () => {
    rig = await start();
  });
  afterAll(() => rig.close());

  test("words reach everybody who listens to their topic, their speaker as well", async () => {
    const [topic, other] = [fresh("once:a"), fresh("once:b")];
    const heard: string[] = [];
    await rig.here.channel.subscribe(topic, (text) => heard.push(`here ${text}`));
    await rig.there.channel.subscribe(topic, (text) => heard.push(`there ${text}`));
    await rig.there.channel.subscribe(other, (text) => heard.push(`other ${text}`));
    rig.here.channel.publish(topic, "grüße");
    await vi.waitFor(() => expect([...heard].sort()).toEqual(["here grüße", "there grüße"]));
  });

  test("who has unsubscribed hears no more; another on the same topic does", async () => {
    const topic = fresh("once:c");
    const heard: string[] = [];
    const leave = await rig.here.channel.subscribe(topic, (text) => heard.push(`first ${text}`));
    await rig.here.channel.subscribe(topic, (text) => heard.push(`second ${text}`));
    await leave();
    await leave();
    rig.there.channel.publish(topic, "1");
    await vi.waitFor(() => expect(heard).toEqual(["second 1"]));
  });

  test("a topic may be left and listened to again", async () => {
    const topic = fresh("once:d");
    const heard: string[] = [];
    const leave = await rig.here.channel.subscribe(topic, () => heard.push("no"));
    await leave();
    await rig.here.channel.subscribe(topic, (text) => heard.push(text));
    rig.there.channel.publish(topic, "yes");
    await vi.waitFor(() => expect(heard).toEqual(["yes"]));
  });

  test("words that nobody hears do no harm", async () => {
    expect(() => rig.here.channel.publish(fresh("once:e"), "?")).not.toThrow();
  });
}
