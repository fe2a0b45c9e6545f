/** This process among those that use the same stores: its lease, the way to the others, and what lives here for all. */
import type { ByteBudget, HttpRequest, HttpResponse, Member } from "../../contract/index.ts";
import { createHomes, createMembership, type Homes, type OwnMembership } from "../../mechanisms/cluster/index.ts";
import type { StateConfig } from "../config/index.ts";
import { formatListen } from "../config/index.ts";
import type { Ports } from "../extensions.ts";
import { createHop, type OpenHop } from "../hop/index.ts";
import type { GatewayState } from "./open-state.ts";

export type ClusterOptions = Ports & {
  readonly config: StateConfig["cluster"];
  readonly state: GatewayState;
  readonly budget: ByteBudget;
  /** Serves what other processes hand over. */
  readonly onRequest: (request: HttpRequest, response: HttpResponse) => void;
};

export type Cluster = {
  readonly membership: OwnMembership;
  readonly leaseMs: number;
  readonly member: () => string;
  /** Both absent where this process is alone. */
  readonly hop?: OpenHop;
  readonly homes?: Homes;
  /** Resolves when the others know this process. Rejects with STATE_UNAVAILABLE, or with the error of the system. */
  open(): Promise<void>;
  close(): Promise<void>;
};

export function createCluster({ config, state, onRequest, ...ports }: ClusterOptions): Cluster {
  const { leaseMs } = config;
  const { shared, clusterKey } = state;
  const isAlone = clusterKey === undefined;
  let address = "";
  const membership = createMembership({
    ...ports,
    state: shared,
    leaseMs,
    isAlone,
    // Known when the listener has its port, which is before the first lease.
    get address() {
      return address;
    },
  });
  const member = () => membership.self.id;
  if (isAlone) {
    return { membership, leaseMs, member, open: () => membership.open(), close: () => membership.leave() };
  }
  const hop = createHop({
    ...ports,
    key: clusterKey,
    state: shared,
    leaseMs,
    self: (): Member => membership.self,
    mayWrite: () => membership.mayWrite(),
    onRequest,
  });
  const homes = createHomes({ ...ports, state: shared, membership });
  return {
    membership,
    leaseMs,
    member,
    hop,
    homes,
    async open() {
      const { listen, advertise } = config;
      const port = await hop.listen(listen.host, listen.port);
      const told = advertise ?? listen;
      address = formatListen({ host: told.host, port: told.port === 0 ? port : told.port });
      await membership.open();
    },
    async close() {
      await homes.leave(() => true);
      await membership.leave();
      await hop.close();
    },
  };
}
