/** A catalog without a kernel around it: the test says what its providers offer. */
import {
  type Access,
  finish,
  jsonText,
  LOCAL,
  type Offer,
  payload,
  type SessionRef,
  type View,
} from "../../src/contract/index.ts";
import { type CatalogChange, LiveCatalog } from "../../src/kernel/catalog/catalog.ts";
import type { CatalogPlan } from "../../src/kernel/catalog/catalog-rules.ts";
import type { Arrangement, NameTaken } from "../../src/kernel/catalog/layouts.ts";
import { Mount } from "../../src/kernel/catalog/mount.ts";
import { ManualTime } from "./manual-time.ts";
import { ScriptedProvider } from "./scripted-provider.ts";

/** What one server has. `prefix`: unset, its id. */
export type TestServer = {
  readonly id: string;
  readonly prefix?: string;
  readonly tools?: readonly string[];
  readonly prompts?: readonly string[];
  readonly resources?: readonly string[];
  readonly templates?: readonly string[];
};

export class TestCatalog {
  readonly changes: CatalogChange[] = [];
  readonly taken: NameTaken[] = [];
  readonly catalog: LiveCatalog;
  readonly #mounts = new Map<string, Mount>();

  constructor(servers: readonly TestServer[], arrangement: Partial<Arrangement> = {}, access?: Access) {
    const time = new ManualTime();
    this.catalog = new LiveCatalog({
      clock: time,
      timers: time,
      compiler: { generation: 0, compile: () => () => Promise.resolve() },
      ...(access && { access }),
      onChange: (change) => this.changes.push(change),
      onNameTaken: (taken) => this.taken.push(taken),
    });
    this.catalog.arrange({ naming: "dotted", catalogs: [], ...arrangement });
    for (const server of servers) this.add(server);
  }

  add(server: TestServer): void {
    const mount = mountOf(server);
    this.#mounts.set(server.id, mount);
    this.catalog.add(mount);
    this.offer(server);
  }

  /** Another server takes the place of the one with this id, and has nothing of its own yet. */
  replace(server: TestServer): void {
    const former = this.#mounts.get(server.id);
    const mount = mountOf(server);
    if (former) mount.inherit(former);
    this.#mounts.set(server.id, mount);
    this.catalog.replace([...this.#mounts.values()]);
  }

  /** Replaces what the server has. */
  offer(server: TestServer): void {
    finish(this.catalog.offer(this.#mounts.get(server.id) as Mount, "shared", offersOf(server)));
  }

  view(catalog = "", session?: SessionRef): View {
    return this.catalog.view(catalog, session?.principal ?? LOCAL, session);
  }
}

function mountOf({ id, prefix = id }: TestServer): Mount {
  return new Mount(new ScriptedProvider(id, []), { segment: prefix, concurrency: 1, timeoutMs: 1 });
}

/** The names in a list, in its order. */
export function listed(view: View, kind: "tool" | "prompt" | "resource" | "template"): string[] {
  const list = view.list(kind);
  const entries = JSON.parse(Buffer.from(`[${list.slice(0, list.count)}]`, "latin1").toString()) as Named[];
  return entries.map(({ name, uri, uriTemplate }) => name ?? uri ?? uriTemplate ?? "");
}

type Named = { name?: string; uri?: string; uriTemplate?: string };

function offersOf({ tools, prompts, resources, templates }: TestServer): Offer[] {
  return [
    offer("tool", "name", tools),
    offer("prompt", "name", prompts),
    offer("resource", "uri", resources),
    offer("template", "uriTemplate", templates),
  ].filter(({ primitives }) => primitives.length > 0);
}

function offer(kind: Offer["kind"], key: string, names: readonly string[] = []): Offer {
  const primitives = names.map((name) => {
    return { kind, name, definition: payload(`{"${key}":${jsonText(name)},"x":1.0}`), repeatable: false };
  });
  return { kind, primitives, extras: "" };
}

/** A catalog's plan with everything in it that is not said. */
export function planned(plan: Partial<CatalogPlan>): CatalogPlan {
  return { id: "ops", include: ["*"], exclude: [], rename: {}, descriptions: {}, resources: true, ...plan };
}
