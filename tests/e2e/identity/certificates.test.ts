import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { connect } from "node:tls";
import { describe, expect, test } from "vitest";
import { pathOf } from "../../needs/need.ts";
import { openssl } from "../../needs/programs.ts";
import { helloServer } from "../kit/gateway.ts";
import { toolCall } from "../kit/rpc.ts";
import { Workspace } from "./workspace.ts";

const TLS = '[gateway.tls]\ncert = "server.crt"\nkey = "server.key"\n';
const MTLS = `${TLS}clientCa = "ca.crt"\n\n[auth.mtls]\nuser = "san.uri"\nrole = "viewer"\n\n`;
const OPEN = `[access]\ndefaultPolicy = "opt-out"\n\n${helloServer()}`;

/** A certificate of its own authority, or of `issuer`. */
function makeCertificate({ folder }: Workspace, name: string, issuer?: string): void {
  const file = (end: string) => join(folder, end);
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", file(`${name}.key`)];
  const names = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=IP:127.0.0.1,URI:spiffe://acme/${name}`];
  const signed = issuer === undefined ? [] : ["-CA", file(`${issuer}.crt`), "-CAkey", file(`${issuer}.key`)];
  const args = ["req", "-x509", ...key, ...names, ...signed, "-days", "30", "-out", file(`${name}.crt`)];
  execFileSync(pathOf(openssl), args, { stdio: ["ignore", "ignore", "ignore"] });
}

function makePlace(config: string): Workspace {
  const place = new Workspace(config);
  makeCertificate(place, "ca");
  makeCertificate(place, "server", "ca");
  makeCertificate(place, "ada", "ca");
  makeCertificate(place, "stranger");
  return place;
}

type Answer = { readonly status: number; readonly text: string };

/** Why somebody was turned away, oldest first. */
async function reasonsAt(place: Workspace, origin: string): Promise<string[]> {
  const path = "/api/audit?event_type=dev.isthmus.authentication_failed";
  const { text } = await ask(place, origin + path, "ada", {}, "GET");
  const { events } = JSON.parse(text) as { events: { details: { reason: string } }[] };
  return events.map(({ details }) => details.reason).reverse();
}

function ask(
  place: Workspace,
  url: string,
  who?: string,
  headers: Record<string, string> = {},
  method = "POST",
): Promise<Answer> {
  const text = (name: string) => readFileSync(join(place.folder, name), "utf8");
  const own = who === undefined ? {} : { cert: text(`${who}.crt`), key: text(`${who}.key`) };
  const body = JSON.stringify({ jsonrpc: "2.0", ...toolCall(1, "hello.greet", { name: "Ada" }) });
  const accept = { accept: "application/json, text/event-stream", "content-type": "application/json" };
  const options = { method, ca: text("ca.crt"), agent: false, headers: { ...accept, ...headers }, ...own };
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (response) => {
      let received = "";
      response.on("data", (chunk) => {
        received += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: received }));
    });
    sent.on("error", reject).end(method === "POST" ? body : "");
  });
}

describe("a gateway with certificates", () => {
  test("knows callers by theirs, and turns strangers away", async () => {
    await using place = makePlace(`${MTLS}${OPEN}`);
    const origin = await place.up("127.0.0.1:0");
    expect(origin).toMatch(/^https:/);
    const known = await ask(place, `${origin}/mcp`, "ada");
    expect(known).toMatchObject({ status: 200, text: expect.stringContaining("Hello, Ada!") });
    const pretended = { "x-ssl-client-dn": "/CN=ada", "x-forwarded-client-cert": "Subject=CN=ada" };
    expect((await ask(place, `${origin}/mcp`)).status).toBe(401);
    expect((await ask(place, `${origin}/mcp`, "stranger")).status).toBe(401);
    expect((await ask(place, `${origin}/mcp`, undefined, pretended)).status).toBe(401);
    await expect.poll(() => reasonsAt(place, origin)).toEqual(["missing", "certificate", "missing"]);
    await expect.poll(() => place.log).toContain("client certificates");
  });

  test("takes tokens over TLS from whoever has no certificate", async () => {
    await using place = makePlace(`${MTLS}[auth]\ntokens = true\nsamePeople = ["tokens"]\n\n${OPEN}`);
    const token = await place.createToken("--user", "bob");
    const origin = await place.up("127.0.0.1:0");
    const bearer = { authorization: `Bearer ${token}` };
    expect((await ask(place, `${origin}/mcp`, undefined, bearer)).status).toBe(200);
    expect((await ask(place, `${origin}/mcp`, "stranger", bearer)).status).toBe(401);
  });

  test("shows a new certificate when its file changes, without a restart", async () => {
    await using place = makePlace(`${TLS}\n${OPEN}`);
    const { port } = new URL(await place.up("127.0.0.1:0"));
    const shown = () =>
      new Promise<unknown>((resolve, reject) => {
        const ca = readFileSync(join(place.folder, "ca.crt"));
        const socket = connect({ host: "127.0.0.1", port: Number(port), ca }, () => {
          resolve(socket.getPeerCertificate().subject.CN);
          socket.end();
        });
        socket.on("error", reject);
      });
    expect(await shown()).toBe("server");
    makeCertificate(place, "renewed", "ca");
    for (const end of ["key", "crt"]) {
      copyFileSync(join(place.folder, `renewed.${end}`), join(place.folder, `server.${end}`));
    }
    await expect.poll(shown, { timeout: 10_000 }).toBe("renewed");
  });

  test("does not start with a key of another certificate", async () => {
    await using place = makePlace('[gateway.tls]\ncert = "server.crt"\nkey = "ada.key"\n');
    const { code, stderr } = await place.run(["up"]);
    expect(code).toBe(3);
    expect(stderr).toContain("gateway.tls: the certificate and the key cannot be used together");
    expect(stderr).not.toContain("PRIVATE KEY");
  });
});
