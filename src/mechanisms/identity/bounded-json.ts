/** Reads what an issuer publishes: never much, never for long, and never from somewhere else than was asked. */
const MAX_BYTES = 256 * 1024;
const TIMEOUT_MS = 5_000;

export type ReadJson = (url: URL) => Promise<unknown>;

/** Rejects when there is no JSON object with status 200, and says why without anything that was received. */
export const readJson: ReadJson = async (url) => {
  const response = await fetch(url, {
    headers: { accept: "application/json" },
    // An answer from elsewhere would be somebody else's word.
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`${url.href} answered HTTP ${response.status}`);
  }
  return JSON.parse(await readText(response, url));
};

async function readText(response: Response, url: URL): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`${url.href} is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Whether what is read from there can be trusted to come from there. */
export function isSafeUrl(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname));
}

const LOOPBACK = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;
