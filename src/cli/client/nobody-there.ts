/** What every verb says where no gateway answers that one was expected of. */
import { Ending } from "../ending.ts";
import { movedGateway, movedLine } from "../operator/moved-gateway.ts";
import { PROGRAM } from "../program-name.ts";
import type { NoAnswer } from "./channel.ts";
import { type ConnectFlags, isOwnAddress } from "./gateway-url.ts";

/** `flags`: by which the address was found. */
export async function nobodyThere(url: URL, error: NoAnswer, { url: named, config }: ConnectFlags): Promise<Ending> {
  const moved = named === undefined ? movedLine(await movedGateway(config)) : [];
  if (!error.isNobody) {
    const asked = `what listens at ${url.origin} gave no answer of a gateway (${error.message})`;
    return new Ending("unreachable", [`${asked}; is it another program? "${PROGRAM} doctor" looks`, ...moved]);
  }
  const nobody = `no gateway runs at ${url.origin} (${error.message})`;
  if (moved.length > 0) return new Ending("unreachable", [nobody, ...moved]);
  const start = isOwnAddress(url) ? `"${PROGRAM} up" starts one` : "start it there, or name another with --url";
  return new Ending("unreachable", [`${nobody}; ${start}`]);
}
