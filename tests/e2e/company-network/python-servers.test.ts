import { describe, expect, test } from "vitest";
import { Company } from "./company.ts";
import { indexUrl, PIP, UVX } from "./python-package.ts";

describe("behind a company's proxy and certificate authority, uvx", () => {
  test.each(["UV_DEFAULT_INDEX", "UV_INDEX_URL"])("fetches a server from the index that %s names", async (name) => {
    await using company = await Company.open(UVX);
    const { authority, proxyUrl } = company.network;
    await company.expectFetched({ [name]: indexUrl(company), SSL_CERT_FILE: authority, HTTPS_PROXY: proxyUrl });
  });

  test.each([
    ["in their home", "home/.config/uv/uv.toml", undefined],
    ["that a variable names", "uv.toml", "UV_CONFIG_FILE"],
  ])("fetches a server from the index of the user's own uv.toml %s", async (_, name, variable) => {
    await using company = await Company.open(UVX);
    const { authority, proxyUrl } = company.network;
    const text = `[[index]]\nurl = "${indexUrl(company)}"\ndefault = true\n`;
    const own = company.write(name, text, variable);
    await company.expectFetched({ ...own, SSL_CERT_FILE: authority, HTTPS_PROXY: proxyUrl });
  });

  test("has the certificate named by doctor that it does not trust", async () => {
    await using company = await Company.open(UVX);
    const finding = await company.finding({
      UV_DEFAULT_INDEX: indexUrl(company),
      HTTPS_PROXY: company.network.proxyUrl,
    });
    expect(finding?.advice).toContain("SSL_CERT_FILE for uvx");
  });

  test("has the proxy named by doctor that wants a password, in the time that a server has to start", async () => {
    await using company = await Company.open(UVX);
    const { authority, proxyHost } = company.network;
    const without = {
      UV_DEFAULT_INDEX: indexUrl(company),
      SSL_CERT_FILE: authority,
      HTTPS_PROXY: `http://${proxyHost}`,
    };
    const finding = await company.finding(without);
    expect(finding?.advice).toContain(`the proxy ${proxyHost} wants a password`);
  });
});

describe("behind a company's proxy and certificate authority, pip", () => {
  test.each([
    ["PIP_CERT", {}],
    // A machine may have an authority of its own in a file, which pip would take instead.
    ["REQUESTS_CA_BUNDLE", { PIP_CONFIG_FILE: "/dev/null" }],
  ])("fetches a server from the index of PIP_INDEX_URL, and trusts %s", async (name, more) => {
    await using company = await Company.open(PIP);
    const { authority, proxyUrl } = company.network;
    await company.expectFetched({
      PIP_INDEX_URL: indexUrl(company),
      [name]: authority,
      HTTPS_PROXY: proxyUrl,
      ...more,
    });
  });

  test.each([
    ["in their home", "home/.config/pip/pip.conf", undefined],
    ["that a variable names", "pip.conf", "PIP_CONFIG_FILE"],
  ])("obeys the user's own pip.conf %s: index, authority and proxy", async (_, name, variable) => {
    await using company = await Company.open(PIP);
    const { authority, proxyUrl } = company.network;
    const text = `[global]\nindex-url = ${indexUrl(company)}\ncert = ${authority}\nproxy = ${proxyUrl}\n`;
    await company.expectFetched(company.write(name, text, variable));
  });
});
