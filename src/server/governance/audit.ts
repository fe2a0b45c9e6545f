/** The audit trail, made of `[audit]`: where it is kept, who else gets it, and what stands in the pipelines. */
import { join } from "node:path";
import {
  type AuditEvent,
  type AuditTrail,
  type Change,
  DEFAULT_TENANT,
  type Entry,
  type EventFeed,
  type NoteRefusal,
  type Operation,
  type TrailFeed,
} from "../../contract/index.ts";
import type { StageFactory } from "../../kernel/index.ts";
import type { NameUse } from "../../mechanisms/access/index.ts";
import {
  type AuditSink,
  CallLines,
  FileSink,
  LiveCallFeed,
  LiveSink,
  noteRefusals,
  passingSigner,
  type Signer,
  signerInFolder,
  signerOfSecret,
  Trail,
} from "../../mechanisms/audit/index.ts";
import { auditStage } from "../../stages/index.ts";
import { type Config, compareConfigs } from "../config/index.ts";
import { type Ports, revealAll } from "../extensions.ts";
import type { GatewayState } from "../state/index.ts";
import { OtlpAuditSink } from "../telemetry/otlp-logs.ts";
import { VERSION } from "../version.ts";
import { AuditWebhook } from "./audit-webhook.ts";
import { dottedName } from "./dotted-name.ts";

export type AuditPorts = Ports & {
  readonly config: Config;
  readonly state?: GatewayState | undefined;
  /** Without a state: writes what is decided. */
  readonly write: (changes: readonly Change[]) => Promise<boolean>;
  /** What the stages are chosen by has changed. */
  readonly onChange: () => void;
};

export type GovernedAudit = {
  readonly trail: AuditTrail;
  /** Calls, as they begin and end here. */
  readonly calls: EventFeed;
  /** What is on the trail, as soon as it is kept there. */
  readonly kept: TrailFeed;
  /** The stage around these others: of what none of them judges, and nobody wants on record, it is no part. */
  around(others: readonly ((entry: Entry) => unknown)[]): StageFactory;
  operations(): Promise<readonly Operation[]>;
  /** The names that the config says something about, as rules have them. */
  uses(): readonly NameUse[];
  /** A message was turned away before it became a call. */
  readonly refused: NoteRefusal;
  /** A server was reached, or lost. */
  serverChanged(id: string, isReached: boolean, status: string): void;
  apply(next: Config): void;
  open(): Promise<void>;
  close(): Promise<void>;
};

export function createAudit(ports: AuditPorts): GovernedAudit {
  const { state, clock, log, meter, timers, write } = ports;
  const { audit, gateway } = ports.config;
  let { config } = ports;
  const records = state?.records;
  const epoch = Date.now() - clock.now();
  const signer = lazySigner(() => signerFor(gateway.state, state));
  const webhook = audit.webhook && records && new AuditWebhook({ ...ports, records, ...revealed(audit.webhook) });
  const kept = new LiveSink();
  const trail = new Trail({
    ...{ records, write, signer, log, meter, timers },
    folder: records && gateway.state !== undefined ? join(gateway.state, "audit") : undefined,
    keptIn: records && gateway.state,
    isShared: state?.clusterKey !== undefined,
    maxBytes: audit.spoolBytes,
    keepMs: audit.keepMs,
    sinks: [...sinksOf(ports), kept],
    ...(webhook && { beside: webhook.beside }),
    now: () => Math.floor(epoch + clock.now()),
  });
  const feed = new LiveCallFeed(ports.onChange);
  const stage = auditStage({
    ...{ trail, feed, clock, epoch },
    lines: new CallLines(),
    hasPlain: audit.plain === "all",
    hasDigest: audit.digest,
    capture: audit.capture,
    dottedOf: (target) => dottedName(config, target),
    refusesWhenFull: audit.isOn && audit.onFull === "refuse",
  });
  const note = (event: Pick<AuditEvent, "type" | "result" | "details">, server = "") =>
    trail.note({
      tenant: DEFAULT_TENANT,
      actor: { type: "kernel", id: "isthmus" },
      target: { server, name: "" },
      ...event,
    });

  return {
    trail,
    calls: feed,
    kept,
    around: (others) => (entry) => {
      const isWanted = audit.plain === "all" || feed.isWatched || others.some((other) => other(entry) !== undefined);
      return isWanted ? stage.of(entry) : undefined;
    },
    async operations() {
      const { auditOperations } = await import("../../mechanisms/audit/audit-operations.ts");
      return auditOperations({
        rows: trail.rows,
        hasPlain: audit.plain === "all",
        kept: records?.audit,
        known: trail.kept,
        get publicKey() {
          return signer.publicKey;
        },
      });
    },
    uses: () => audit.capture.flatMap(({ tools }) => tools.filter((tool) => !isById(config, tool)).map(useOf)),
    refused: noteRefusals(trail, clock),
    serverChanged(id, isReached, status) {
      if (!audit.isOn) return;
      const type = isReached ? "SERVER_CONNECTED" : "SERVER_DISCONNECTED";
      note({ type, result: isReached ? "SUCCESS" : "FAILURE", details: { status } }, id);
    },
    apply(next) {
      note({ type: "dev.isthmus.config.reloaded", result: "SUCCESS", details: { ...compareConfigs(config, next) } });
      config = next;
    },
    async open() {
      if (audit.isOn && !records) warnOfMemory(ports);
      await trail.open();
      webhook?.open();
    },
    async close() {
      await trail.close();
      await webhook?.close();
    },
  };
}

/** `isthmus stdio` has no state, whatever its config says. */
function warnOfMemory({ config, log }: AuditPorts): void {
  const isPosted = config.audit.webhook !== undefined;
  log.warn("audit events are in memory until this process ends: it keeps no state", isPosted ? { webhook: "off" } : {});
}

function sinksOf({ config, timers, log, meter }: AuditPorts): readonly AuditSink[] {
  const { file, otlp } = config.audit;
  const { endpoint, headers } = config.telemetry;
  const sinks: AuditSink[] = [];
  if (file) sinks.push(new FileSink({ file: file.path, maxBytes: file.maxSize, keep: file.keep, log, meter }));
  if (otlp && endpoint !== undefined) {
    sinks.push(new OtlpAuditSink({ endpoint, headers: revealAll(headers), version: VERSION, timers, log, meter }));
  }
  return sinks;
}

function revealed({ url, headers }: NonNullable<Config["audit"]["webhook"]>) {
  return { url, headers: revealAll(headers) };
}

/** What the processes of one gateway have in common comes before what is in the folder of one of them. */
function signerFor(folder: string | undefined, state: GatewayState | undefined): Signer {
  if (state?.clusterKey !== undefined) return signerOfSecret(state.clusterKey);
  return state && folder !== undefined ? signerInFolder(folder) : passingSigner();
}

/** Made when it is first used: a start that records nothing needs no key. */
function lazySigner(make: () => Signer): Signer {
  let made: Signer | undefined;
  const signer = () => (made ??= make());
  return {
    get keyId() {
      return signer().keyId;
    },
    get publicKey() {
      return signer().publicKey;
    },
    sign: (text) => signer().sign(text),
  };
}

/** Such a name is no rule's, and is understood all the same. */
function isById({ servers }: Pick<Config, "servers">, tool: string): boolean {
  return servers.some(({ id }) => tool.startsWith(`${id}.`));
}

function useOf(name: string): NameUse {
  return { name };
}
