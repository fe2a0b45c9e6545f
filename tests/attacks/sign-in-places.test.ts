/** A server has people sign in at somebody else's page, to get what that page gives out. */
import { afterAll, beforeEach, expect, test } from "vitest";
import { SessionClient } from "../e2e/upstream-auth/client.ts";
import { signIn } from "../e2e/upstream-auth/issuer.ts";
import { UserAgent } from "../kit/user-agent.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { startCompany, startHostile } from "./kit/sign-in-places.ts";

const company = await startCompany();
const hostile = await startHostile();

afterAll(async () => {
  await company.place[Symbol.asyncDispose]();
  await hostile.place[Symbol.asyncDispose]();
});

const config = `
[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
[[servers]]
id = "hostile"
url = "${hostile.url}/mcp"
[servers.auth]
type = "oauth"
`;

const page = `${company.url}/authorize`;
const token_endpoint = `${company.url}/token`;
const registration_endpoint = `${company.url}/register`;

describeAttacks("somebody else's page to sign in at", { config, tokens: { ann: ["--user", "ann"] } }, (field) => {
  const link = async () =>
    await (await SessionClient.open(`${field.origin()}/mcp`, field.token("ann"))).linkOf("hostile.sign_in");

  beforeEach(() => {
    hostile.says = {};
    hostile.got.length = 0;
    company.visits.length = 0;
  });

  test.each([
    ["with the server's own place for codes", { authorization_endpoint: page }],
    [
      "under the name of the server's own host",
      { authorization_endpoint: page.replace("http://", `http://${new URL(hostile.url).host}@`) },
    ],
    [
      "with a query that the server has chosen",
      { authorization_endpoint: `${page}?audience=payroll`, token_endpoint, registration_endpoint },
    ],
    [
      "with the server's own place for tokens that are given up",
      {
        authorization_endpoint: page,
        token_endpoint,
        registration_endpoint,
        revocation_endpoint: `${hostile.url}/revoke`,
      },
    ],
  ])("is not opened %s, and the operator is told what to set if it is right", async (_what, says) => {
    hostile.says = says;
    const last = await signIn(await link(), "ann");
    expect(company.visits).toEqual([]);
    expect(hostile.got).toEqual([]);
    expect(last).toMatchObject({ status: 400, text: expect.stringContaining("[servers.auth]") });
    expect(last.text).toContain(new URL(company.url).host);
  });

  test("is not opened either when the server names it only after the page of the gateway was shown", async () => {
    const agent = new UserAgent();
    const shown = await agent.open(await link());
    expect(shown.text).toContain(`<b>${new URL(hostile.url).host}</b>`);
    hostile.says = { authorization_endpoint: page };
    expect((await agent.submit(shown)).status).toBe(400);
    expect(company.visits).toEqual([]);
  });
});
