// An MCP server on stdio that writes what it was given to standard error, in many spellings, as it starts and with each
// call; `die` ends it in the middle of such a line.
import { createInterface } from "node:readline";

const secrets = [process.env.KEY ?? "", process.env.WRITTEN_TOKEN ?? ""];

const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;

function leak() {
  for (const secret of secrets) {
    process.stderr.write(`login with ${secret} failed\n`);
    process.stderr.write(`${JSON.stringify({ secret })}\n`);
    process.stderr.write(`GET /?key=${encodeURIComponent(secret)}\n`);
    process.stderr.write(`Authorization: Basic ${Buffer.from(`user:${secret}`).toString("base64")}\n`);
    process.stderr.write(`${Buffer.from(secret).toString("base64url")} ${Buffer.from(secret).toString("hex")}\n`);
    process.stderr.write(
      `${JSON.stringify({ secret })
        .replace(/[^ -~]|[&+@]/g, escaped)
        .replaceAll("/", "\\/")}\n`,
    );
    process.stderr.write(`${JSON.stringify(JSON.stringify({ secret }))} ${secret.replace(/./gs, escaped)}\n`);
    process.stderr.write(`GET ${encodeURI(`/?key=${secret}`)} ${encodeURIComponent(encodeURIComponent(secret))}\n`);
    process.stderr.write(`wrapped ${secret.slice(0, 7)}\n${secret.slice(7)} end\n`);
  }
  process.stderr.write("leaked\n");
}

/** In pieces that arrive one by one. */
async function drip(text) {
  for (const character of text) await new Promise((resolve) => process.stderr.write(character, resolve));
}

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
leak();

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  if (method === "initialize") {
    const { protocolVersion } = params;
    send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "leaky", version: "1" } } });
  } else if (method === "tools/list") {
    send({ id, result: { tools: ["leak", "die"].map((name) => ({ name, inputSchema: { type: "object" } })) } });
  } else if (method === "tools/call") {
    if (params.name === "die") {
      await drip(`last words: ${secrets[0]}`);
      process.exit(1);
    }
    for (const secret of secrets) await drip(`dripped ${secret}\n`);
    send({ id, result: { content: [] } });
  } else send({ id, error: { code: -32601, message: "method not found" } });
}
