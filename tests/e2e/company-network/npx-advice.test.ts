import { describe, expect, test } from "vitest";
import { Company } from "./company.ts";
import { NPX, npxEnvironment } from "./npm-package.ts";

describe("what doctor says of a server that npx cannot fetch", () => {
  test("names the certificate that npx does not trust", async () => {
    await using company = await Company.open(NPX);
    const { NODE_EXTRA_CA_CERTS: _authority, ...without } = npxEnvironment(company);
    const finding = await company.finding(without);
    expect(finding?.found).toMatch(/failed with (?:SELF_SIGNED|UNABLE_TO)/);
    expect(finding?.advice).toContain("set NODE_EXTRA_CA_CERTS");
    // The level at which npm is told to speak is no secret.
    expect(finding?.found).not.toContain("[secret]");
  });

  test("names the proxy that does not answer, and not its password", async () => {
    await using company = await Company.open(NPX);
    const finding = await company.finding({
      ...npxEnvironment(company),
      HTTPS_PROXY: "http://staff:hunter22@127.0.0.1:9",
    });
    expect(finding?.advice).toMatch(/^the proxy 127\.0\.0\.1:9 does not answer/);
    expect(JSON.stringify(finding)).not.toContain("hunter22");
  });

  test("names the registry that cannot be resolved without the proxy", async () => {
    await using company = await Company.open(NPX);
    const { HTTPS_PROXY: _proxy, ...without } = npxEnvironment(company);
    expect((await company.finding(without))?.advice).toMatch(/cannot be resolved: behind a proxy set HTTPS_PROXY/);
  });
});
