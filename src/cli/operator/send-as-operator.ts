/**
 * Asks a gateway on this machine for something as the operator who runs it. What listens there must first show that it knows the
 * operator's token, and gets a proof for this one request: the token itself is not sent to anybody.
 */
import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import {
  contentDigest,
  gatewayProof,
  isSameProof,
  makeNonce,
  OPERATOR_PROOF_PATH,
  operatorCredentials,
} from "../../contract/index.ts";
import { ownToken } from "../../server/config/index.ts";
import { NoAnswer } from "../client/channel.ts";
import { isOwnAddress } from "../client/gateway-url.ts";
import { type HttpAnswer, jsonOf } from "../client/http-get.ts";
import { type HttpOrder, httpSend } from "../client/http-send.ts";
import { refusalOf } from "../client/refusal.ts";
import { Ending } from "../ending.ts";
import { objectOf, textOf } from "../json.ts";
import { readOperatorToken } from "./operator-token.ts";

const PROVE_MS = 5_000;

/** What shows one gateway that whoever runs it asks for one thing. */
export type OperatorProof = Required<Pick<HttpOrder, "address" | "sign">>;

type Asked = Pick<HttpOrder, "method" | "url">;

/** As who is named in the environment, or elsewhere, where somebody is. Rejects with NoAnswer or Ending. */
export async function sendAsOperator(order: HttpOrder): Promise<HttpAnswer> {
  const token = tokenFor(order.url);
  if (token === undefined) return await httpSend(order);
  return await httpSend({ ...order, ...proofFor(order, await reach(order.url, token), token) });
}

/** To look at something. Rejects with NoAnswer. */
export async function lookAsOperator(order: HttpOrder): Promise<HttpAnswer> {
  return await httpSend({ ...order, ...(await proofToLook(order)) });
}

/**
 * To be on this machine is often enough to look. Where it is not, whoever runs the gateway says so at once: a question by nobody
 * would stand in its trail as a failed attempt. Undefined: nobody need say who they are, or it is somebody else's gateway.
 * Rejects with NoAnswer.
 */
export async function proofToLook(asked: Asked): Promise<OperatorProof | undefined> {
  try {
    const token = tokenFor(asked.url);
    if (token === undefined) return undefined;
    const reached = await reach(asked.url, token);
    return reached.asks ? proofFor(asked, reached, token) : undefined;
  } catch (error) {
    if (error instanceof Ending) return undefined;
    throw error;
  }
}

/** Whether what listens there is a gateway that this user runs: it knows their token. */
export async function isOwnGateway(url: URL): Promise<boolean> {
  try {
    const token = isOwnAddress(url) ? readOperatorToken() : undefined;
    if (token === undefined) return false;
    await reach(url, token);
    return true;
  } catch (error) {
    if (error instanceof Ending || error instanceof NoAnswer) return false;
    throw error;
  }
}

/** Undefined: somebody else is named, or it is nobody's here. Throws Ending. */
function tokenFor(url: URL): string | undefined {
  return ownToken() === undefined && isOwnAddress(url) ? readOperatorToken() : undefined;
}

type Reached = { readonly place: LookupAddress; readonly port: number; readonly asks: boolean };

/** Rejects with NoAnswer, and with Ending where it does not know the token. */
async function reach(gateway: URL, token: string): Promise<Reached> {
  const port = portOf(gateway);
  // One name may have two addresses, and at one of them may be somebody else.
  const place = await lookup(gateway.hostname.replace(/^\[(.*)\]$/, "$1")).catch((error: NodeJS.ErrnoException) => {
    throw new NoAnswer(error.code ?? error.message, false);
  });
  const nonce = makeNonce();
  const url = new URL(`${OPERATOR_PROOF_PATH}?nonce=${nonce}`, gateway);
  const answer = await httpSend({ method: "GET", url, address: place, isAnonymous: true, timeoutMs: PROVE_MS });
  const { proof, asks } = objectOf(jsonOf(answer));
  if (isSameProof(textOf(proof) ?? "", gatewayProof(token, port, nonce))) return { place, port, asks: asks === true };
  throw (
    refusalOf(url, answer) ??
    new Ending("unreachable", [
      `what listens at ${url.origin} does not know your operator token: it is not your gateway`,
      "nothing was sent to it; where it is one that others run, or is behind a proxy, put a token of it into ISTHMUS_TOKEN",
    ])
  );
}

function proofFor({ method, url }: Asked, { place, port }: Reached, token: string): OperatorProof {
  return {
    address: place,
    sign(text) {
      const digest = contentDigest(text, "utf8");
      const request = { address: place.address, port, method, url: url.pathname + url.search, digest };
      return { Authorization: operatorCredentials(token, request, Date.now()), "Content-Digest": digest };
    },
  };
}

function portOf({ port, protocol }: URL): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}
