import { describe, expect, test } from "vitest";
import type { HttpPeer } from "../../contract/index.ts";
import { type CertificateConfig, type CertificateName, principalOfCertificate } from "./certificate.ts";
import { IdentityRig, NOW, request } from "./fixtures/identity-rig.ts";

type Certificate = NonNullable<HttpPeer["certificate"]>;

const CONFIG: CertificateConfig = {
  user: "subject.CN",
  tenant: "default",
  hasGroups: false,
  scopes: ["a"],
  role: undefined,
};
const CERTIFICATE: Certificate = {
  isTrusted: true,
  subject: { CN: "ada", OU: ["dev", "ops"] },
  alternativeNames: "DNS:ada.example, URI:spiffe://acme/ada, email:ada@acme.example",
  fingerprint: "ab".repeat(32),
  expiresAt: NOW + 60_000,
};

describe("a client certificate", () => {
  test("makes its holder a principal", () => {
    expect(principalOfCertificate(CERTIFICATE, CONFIG)).toEqual({
      id: "certificate:ada/abababababababab",
      identity: {
        tenant: "default",
        user: "ada",
        client: "ab".repeat(32),
        groups: [],
        scopes: ["a"],
        role: undefined,
        proof: "certificate",
        expiresAt: NOW + 60_000,
      },
    });
  });

  test.each<[CertificateName, string]>([
    ["san.uri", "spiffe://acme/ada"],
    ["san.email", "ada@acme.example"],
    ["san.dns", "ada.example"],
  ])("names the user in %s", (user, named) => {
    expect(principalOfCertificate(CERTIFICATE, { ...CONFIG, user }).identity?.user).toBe(named);
  });

  test("tells groups only where they are asked for", () => {
    expect(principalOfCertificate(CERTIFICATE, { ...CONFIG, hasGroups: true }).identity?.groups).toEqual([
      "dev",
      "ops",
    ]);
  });

  test.each<[string, Partial<Certificate>, CertificateName]>([
    ["is not trusted", { isTrusted: false }, "subject.CN"],
    ["has two names", { subject: { CN: ["ada", "root"] } }, "subject.CN"],
    ["has no name", { subject: {} }, "subject.CN"],
    ["has the name of the local user", { subject: { CN: "local" } }, "subject.CN"],
    ["has an empty name", { subject: { CN: "" } }, "subject.CN"],
    ["has two alternative names", { alternativeNames: "URI:a, URI:b" }, "san.uri"],
    ["hides a name in another", { alternativeNames: 'DNS:"x, URI:root"' }, "san.uri"],
  ])("that %s is refused", (_what, change, user) => {
    expect(() => principalOfCertificate({ ...CERTIFICATE, ...change }, { ...CONFIG, user })).toThrow("certificate");
  });

  test("is known with the next request, until it ends", () => {
    const rig = new IdentityRig({ certificates: CONFIG });
    const asked = request(undefined, { peer: { address: "10.0.0.1", certificate: CERTIFICATE } });
    expect(rig.identity.authenticate(asked)).toBe(rig.identity.authenticate(asked));
    rig.time.advance(60_000);
    expect(() => rig.identity.authenticate(asked)).toThrow("expired");
  });

  test("that is not trusted is refused even beside a good token", () => {
    const rig = new IdentityRig({ certificates: CONFIG });
    const peer = { address: "10.0.0.1", certificate: { ...CERTIFICATE, isTrusted: false } };
    expect(() => rig.identity.authenticate(request(`Bearer ${rig.addToken()}`, { peer }))).toThrow("certificate");
  });

  test("proves nothing where nobody asked for it", () => {
    const asked = request(undefined, { peer: { address: "10.0.0.1", certificate: CERTIFICATE } });
    expect(() => new IdentityRig().identity.authenticate(asked)).toThrow("Credentials are needed");
  });
});
