/**
 * What the client can take. Streams must be named: "anything" is also what tools say that never saw one.
 * `prefersSse`: it named streams first, and gets one even where a single answer would do.
 */
export type Accepts = { readonly json: boolean; readonly sse: boolean; readonly prefersSse: boolean };

const MAX_KNOWN = 64;
const known = new Map<string, Accepts>();

export function acceptsOf(header: string | undefined): Accepts {
  if (header === undefined) return { json: true, sse: false, prefersSse: false };
  const found = known.get(header);
  if (found) return found;
  const lower = header.toLowerCase();
  const json = lower.search(/application\/(json|\*)|\*\/\*/);
  const sse = lower.indexOf("text/event-stream");
  const accepts = { json: json >= 0, sse: sse >= 0, prefersSse: sse >= 0 && (json < 0 || sse < json) };
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(header, accepts);
  return accepts;
}
