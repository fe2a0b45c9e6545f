import { expect, test } from "vitest";
import { type HttpRequest, LOCAL } from "../../../contract/index.ts";
import { createGate } from "./gate.ts";

function request(headers: Record<string, string>): HttpRequest {
  const [body, discard] = [() => undefined, () => undefined];
  return { method: "POST", url: "/mcp", headers, principal: LOCAL, clientAddress: undefined, body, discard };
}

test("follows the lists that are put into its options", () => {
  const options = { allowedHosts: ["box"], allowedOrigins: ["https://a.example"] };
  const gate = createGate(options);
  const fromA = request({ host: "box", origin: "https://a.example" });
  const fromB = request({ host: "crate", origin: "https://b.example" });
  expect([gate(fromA), gate(fromB)]).toEqual([undefined, "host"]);
  options.allowedHosts = ["box", "crate"];
  expect([gate(fromA), gate(fromB)]).toEqual([undefined, "origin"]);
  options.allowedOrigins = ["https://b.example"];
  expect([gate(fromA), gate(fromB)]).toEqual(["origin", undefined]);
});
