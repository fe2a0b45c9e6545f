import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redactedText } from "./redacted-text.ts";
import { passwordIn, spellingsOf } from "./secret-spellings.ts";

const SECRET = "s3cr+t/v@lue?of=ours";

/** As a whole, however it was cut. */
function shown(pieces: readonly string[], secrets: readonly string[] = [SECRET]): string {
  const text = redactedText(spellingsOf(secrets));
  return pieces.map((piece) => text.push(piece)).join("") + text.rest;
}

const WRITTEN: Readonly<Record<string, (secret: string) => string>> = {
  "as it is": (secret) => secret,
  "in JSON": (secret) => JSON.stringify({ secret }),
  "escaped for a URL": (secret) => `https://host/?key=${encodeURIComponent(secret)}&x=1`,
  "escaped for a URL in small letters": (secret) =>
    encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
  "as a form": (secret) => new URLSearchParams({ key: secret }).toString(),
  "in base64": (secret) => Buffer.from(secret).toString("base64"),
  "in base64url": (secret) => Buffer.from(secret).toString("base64url"),
  "as basic credentials": (secret) => `Basic ${Buffer.from(`user:${secret}`).toString("base64")}`,
  "in the middle of something in base64": (secret) => Buffer.from(`{"k":"${secret}"}`).toString("base64"),
  "in JSON that escapes more": (secret) => JSON.stringify({ secret }).replace(/[+/@?=&]/g, escapedLetter),
  "in JSON that is ASCII": (secret) => JSON.stringify({ secret }).replace(/[^ -~]/g, escapedLetter),
  "in JSON with escaped slashes": (secret) => JSON.stringify({ secret }).replaceAll("/", "\\/"),
  "in JSON in JSON": (secret) => JSON.stringify(JSON.stringify({ secret })),
  "in JSON in JSON that is ASCII": (secret) =>
    JSON.stringify(JSON.stringify({ secret }).replace(/[^ -~]|[+/]/g, escapedLetter)),
  "with every letter escaped": (secret) => secret.replace(/./gs, escapedLetter),
  "in a URL, escaped as little as can be": (secret) => encodeURI(secret),
  "in a URL in a URL": (secret) => encodeURIComponent(`/?u=${encodeURIComponent(secret)}`),
  "in base64 in JSON with escaped slashes": (secret) =>
    Buffer.from(`user:${secret}??>`).toString("base64").replaceAll("/", "\\/"),
  "in base64 in a URL": (secret) => encodeURIComponent(Buffer.from(`user:${secret}??>`).toString("base64")),
  "in hex": (secret) => Buffer.from(secret).toString("hex"),
};

const escapedLetter = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;

test.each([
  ["backslashes", "\\".repeat(80_000)],
  ["escaped percent signs", `%${"25".repeat(200_000)}`],
  ["beginnings of escapes", "\\u00".repeat(100_000)],
])("looks at each of many %s once, and hides a secret behind them", (_, many) => {
  expect(shown([`${many}z`, `${many} ${SECRET}`]).endsWith(" [secret]")).toBe(true);
});

describe("a secret that a child writes", () => {
  test.each(Object.entries(WRITTEN))("is not seen %s, however it is cut", (_, write) => {
    const own = [SECRET, "another-secret", "ünïcode secret", 'with "quotes" & \\n/ \\ more'];
    fc.assert(
      fc.property(
        fc.constantFrom(...own),
        fc.string(),
        fc.array(fc.nat({ max: 200 }), { maxLength: 8 }),
        fc.array(fc.nat({ max: 200 }), { maxLength: 3 }),
        (secret, around, cuts, breaks) => {
          const whole = insertBreaks(`${around} ${write(secret)} ${around}`, breaks);
          const output = shown(cutAt(whole, cuts), own).replace(/[\r\n]/g, "");
          for (const spelling of spellingsOf([secret])) expect(output).not.toContain(spelling);
          expect(output).not.toContain(write(secret).replace(/[\r\n]/g, ""));
        },
      ),
    );
  });

  test("leaves everything around it, and the lines, as they were", () => {
    expect(shown([`start\nkey=${SECRET}, retrying\nend\n`])).toBe("start\nkey=[secret], retrying\nend\n");
    expect(shown(["key=s3cr+t/v@\nlue?of=ours!\nend\n"])).toBe("key=[secret]\n!\nend\n");
    expect(shown([...`a ${SECRET} b`])).toBe("a [secret] b");
    expect(shown([`${SECRET}\n${SECRET}\nend\n`])).toBe("[secret]\n[secret]\nend\n");
  });

  test("leaves escapes of anything else, and percent signs, as they are", () => {
    const text = 'path C:\\\\temp\\new is 100% of %20 "\\u00e4" done\n';
    expect(shown([...text])).toBe(text);
    expect(shown([text])).toBe(text);
    expect(shown(["all of it: 100%"])).toBe("all of it: 100%");
  });

  test("is held back only while it may be one", () => {
    const text = redactedText(spellingsOf([SECRET]));
    expect(text.push("listening on 7411\n")).toBe("listening on 7411\n");
    expect(text.push("key s3cr")).toBe("key ");
    expect(text.push("ipt\n")).toBe("s3cript\n");
    expect(text.push("s3cr+t/v")).toBe("");
    expect(text.rest).toBe("[secret]");
  });

  test("is not seen where a shorter one is its beginning", () => {
    expect(shown(["x token-1", "2345 y"], ["token-1", "token-12345"])).toBe("x [secret] y");
  });

  test("is not seen in part: the password of an address, the token behind a scheme, a line of a key", () => {
    const pem = `-----BEGIN PRIVATE KEY-----\n${"A".repeat(64)}\n${"B".repeat(40)}\n-----END PRIVATE KEY-----`;
    const secrets = ["postgres://ann:p%40ss-word@host/db", "Bearer abcdef0123", pem];
    expect(shown(["no access with p@ss-word or p%40ss-word\n"], secrets)).toBe("no access with [secret] or [secret]\n");
    expect(shown(["token abcdef0123 refused\n"], secrets)).toBe("token [secret] refused\n");
    expect(shown([`line ${"B".repeat(40)}\n`], secrets)).toBe("line [secret]\n");
    expect(passwordIn("http://user:pass@proxy:3128")).toContain("pass");
    expect(passwordIn("/srv/data")).toEqual([]);
  });

  test("of no length is none", () => {
    expect(shown(["anything, 1 and on\n"], ["", "1", "on"])).toBe("anything, 1 and on\n");
  });
});

function cutAt(text: string, cuts: readonly number[]): readonly string[] {
  const places = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length];
  return places.slice(1).map((end, index) => text.slice(places[index], end));
}

function insertBreaks(text: string, breaks: readonly number[]): string {
  return breaks.reduce((sum, at) => `${sum.slice(0, at)}\n${sum.slice(at)}`, text);
}
