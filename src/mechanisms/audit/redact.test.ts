import { expect, test } from "vitest";
import { plainPath, redactText } from "./redact.ts";

const ID = "0f8fad5b-d9cb-469f-a165-70867728950e";
const LINK = `${ID}.${"s".repeat(43)}`;

test.each([
  ["/mcp", "/mcp"],
  ["/mcp?access_token=x", "/mcp"],
  ["/v1.0/mcp", "/v1.0/mcp"],
  [`/approvals/${ID}`, `/approvals/${ID}`],
  [`/approvals/${ID}.${"s".repeat(43)}`, `/approvals/${ID}`],
  [`/approvals/${ID}.s?x`, `/approvals/${ID}`],
  [`/approvals/${ID}%2E${"s".repeat(43)}`, `/approvals/${ID}`],
  ["/approvals/.a.b\nc", "/approvals/"],
  [`//approvals/${LINK}`, `//approvals/${ID}`],
  [`/x/approvals/${LINK}/mcp`, `/x/approvals/${ID}/mcp`],
  [`/api/approvals/${LINK}`, `/api/approvals/${ID}`],
  [`/api/approvals/${LINK}/approve`, `/api/approvals/${ID}/approve`],
  [`/Approvals/${LINK.toUpperCase()}`, `/Approvals/${ID.toUpperCase()}`],
  [`/x/${LINK}/${LINK}`, `/x/${ID}/${ID}`],
  [`/x/${LINK.slice(0, -1)}`, `/x/${ID}`],
  [`/x/${ID}%2e${"s".repeat(43)}`, `/x/${ID}`],
  [`/x/${ID}%252e${"s".repeat(43)}`, `/x/${ID}`],
  [`/x/${ID}.%73${"s".repeat(42)}`, `/x/${ID}`],
  [`/x/${LINK.replace("-", "%2D")}`, "[redacted]"],
  [`/x/${LINK.replace("-", "%252D")}`, "[redacted]"],
  [`/x/${ID}/mcp`, `/x/${ID}/mcp`],
])("of %j %j is put on record", (url, path) => {
  expect(plainPath(url)).toBe(path);
});

test.each([
  "Bearer abcdef0123456789",
  "Bearer\\u0020abcdef0123456789",
  '{\\"a\\":\\"Bearer\\\\u0020abcdef0123456789\\"}',
  "https:\\/\\/ann:hunter22@host\\/",
  "https%3A%2F%2Fann%3Ahunter22%40host",
  "https%253A%252F%252Fann%253Ahunter22%2540host",
  "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ",
  "a-eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ.x",
  "x.y eyJ.z=eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ",
  "\\u0067hp_0123456789abcdef",
  `GET https://host//approvals/${LINK}`,
  `approvals/${ID}%2E${"s".repeat(43)}`,
])("%j is not put on record", (text) => expect(redactText(text)).toBe("[redacted]"));

test("a run of backslashes is looked at once", () => {
  expect(redactText(`${"\\".repeat(400_000)}u00`)).toHaveLength(257);
});

test("what begins like a token again and again is looked at once", () => {
  expect(redactText("eyJ01234567-".repeat(25_000))).toHaveLength(257);
  expect(redactText("eyJ-".repeat(80_000))).toHaveLength(257);
});

test.each([
  "eyJ0.eyJ1",
  "heyJ01234567.01234567",
  "eyJ01234567 .01234567",
  "eyJ01234567.0123456",
  "C:\\\\temp\\\\new",
  "100% of it",
  "a%20b",
  '{\\"a\\":1}',
  ID,
  `${ID}.json`,
])("%j is put on record as it is", (text) => {
  expect(redactText(text)).toBe(text);
});
