import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:https";
import { type AddressInfo, connect as connectPlain } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { pathOf } from "../../../tests/needs/need.ts";
import { openssl } from "../../../tests/needs/programs.ts";
import type { HttpPeer } from "../../contract/index.ts";
import { HttpListener, type HttpListenerOptions } from "./listener.ts";
import type { TlsTerms } from "./tls-server.ts";

let folder = "";
const file = (name: string) => join(folder, name);
const text = (name: string) => readFileSync(file(name), "utf8");
const runOpenssl = (...args: string[]) =>
  execFileSync(pathOf(openssl), args, { stdio: ["ignore", "ignore", "ignore"] });

/** A certificate of its own authority, or of `issuer`. */
function makeCertificate(name: string, subject: string, issuer?: string): void {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", file(`${name}.key`)];
  const names = ["-subj", subject, "-addext", "subjectAltName=IP:127.0.0.1,URI:spiffe://acme/ada"];
  const signed = issuer === undefined ? [] : ["-CA", file(`${issuer}.crt`), "-CAkey", file(`${issuer}.key`)];
  runOpenssl("req", "-x509", ...key, ...names, ...signed, "-days", "30", "-out", file(`${name}.crt`));
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-tls-"));
  makeCertificate("ca", "/CN=ca");
  makeCertificate("server", "/CN=server", "ca");
  makeCertificate("renewed", "/CN=renewed", "ca");
  makeCertificate("client", "/CN=ada/OU=dev/OU=ops", "ca");
  makeCertificate("stranger", "/CN=ada");
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Written one by one, and read together. */
const RECORDS = 200;

let listener: HttpListener | undefined;
afterEach(() => listener?.close());

const terms = (name = "server"): TlsTerms => ({ cert: text(`${name}.crt`), key: text(`${name}.key`) });

/** Answers each request with what it knows of the peer. */
async function listen(tls: TlsTerms, more: Partial<HttpListenerOptions> = {}): Promise<number> {
  listener = new HttpListener({
    timers: new ManualTime(),
    tls,
    onRequest: (request, response) => response.answer(200, "", JSON.stringify(request.peer)),
    onError: (cause) => {
      throw cause;
    },
    ...more,
  });
  const { server } = listener;
  await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
  return (server.address() as AddressInfo).port;
}

function get(port: number, client?: string): Promise<HttpPeer> {
  const own = client === undefined ? {} : { cert: text(`${client}.crt`), key: text(`${client}.key`) };
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, ca: text("ca.crt"), agent: false, ...own }, (response) => {
      let body = "";
      response.on("data", (chunk) => {
        body += chunk;
      });
      response.on("end", () => resolve(JSON.parse(body)));
    });
    sent.on("error", reject).end();
  });
}

describe("a listener with a certificate", () => {
  test("answers over TLS, and asks clients for nothing", async () => {
    const port = await listen(terms());
    expect(await get(port)).toEqual({ address: "127.0.0.1", reached: { address: "127.0.0.1", port } });
    expect(await get(port, "client")).toEqual({ address: "127.0.0.1", reached: { address: "127.0.0.1", port } });
  });

  test("tells what a client of its authority showed", async () => {
    const port = await listen({ ...terms(), clientCa: text("ca.crt") });
    expect(await get(port, "client")).toMatchObject({
      certificate: {
        isTrusted: true,
        subject: { CN: "ada", OU: ["dev", "ops"] },
        alternativeNames: expect.stringContaining("URI:spiffe://acme/ada"),
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
  });

  test("takes clients without a certificate, and tells one of a stranger for what it is", async () => {
    const port = await listen({ ...terms(), clientCa: text("ca.crt") });
    expect(await get(port)).toEqual({ address: "127.0.0.1", reached: { address: "127.0.0.1", port } });
    expect((await get(port, "stranger")).certificate?.isTrusted).toBe(false);
  });

  test("shows another one from when it was renewed", async () => {
    const port = await listen(terms());
    const shown = () =>
      new Promise((resolve) => {
        const socket = connect({ host: "127.0.0.1", port, ca: text("ca.crt") }, () => {
          resolve(socket.getPeerCertificate().subject.CN);
          socket.destroy();
        });
      });
    expect(await shown()).toBe("server");
    listener?.renew(terms("renewed"));
    expect(await shown()).toBe("renewed");
  });

  test("leaves others a turn where each of many requests is a record of its own", async () => {
    let inTurn = 0;
    let most = 0;
    const port = await listen(terms(), {
      onRequest(_, response) {
        if (inTurn++ === 0)
          setImmediate(() => {
            most = Math.max(most, inTurn);
            inTurn = 0;
          });
        const until = performance.now() + 1;
        while (performance.now() < until) {}
        response.answer(200, "", "x");
      },
    });
    const answered = await new Promise<number>((resolve, reject) => {
      let heard = "";
      const socket = connect({ host: "127.0.0.1", port, ca: text("ca.crt") }, () => {
        for (let count = 0; count < RECORDS; count++) socket.write("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
      });
      socket.setEncoding("latin1").on("data", (text: string) => {
        heard += text;
        const count = heard.match(/HTTP\/1.1 200/g)?.length ?? 0;
        if (count === RECORDS) resolve(count);
      });
      socket.on("error", reject);
    });
    expect(answered).toBe(RECORDS);
    expect(most).toBeLessThan(RECORDS / 4);
  });

  test("takes clients beside any number that say nothing", async () => {
    const port = await listen(terms(), { maxConnections: 6 });
    const silent = Array.from({ length: 30 }, () => connectPlain({ host: "127.0.0.1", port }));
    await Promise.all(
      silent.map((socket) => new Promise((resolve) => socket.on("error", resolve).on("connect", resolve))),
    );
    for (let count = 0; count < 3; count++) expect(await get(port)).toMatchObject({ address: "127.0.0.1" });
    for (const socket of silent) socket.destroy();
  });

  test("goes on after clients that speak no TLS", async () => {
    const port = await listen(terms());
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
    expect(await get(port)).toEqual({ address: "127.0.0.1", reached: { address: "127.0.0.1", port } });
  });
});
