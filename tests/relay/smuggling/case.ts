/**
 * One attempt to have a message judged as one thing and executed as another. `bytes` holds one character per byte; `@`
 * stands for what a way to the tools puts before their names ("files." or nothing).
 */
export type SmugglingCase = {
  readonly name: string;
  readonly bytes: string;
  /**
   * refused: a clear error, and no server hears of it. same: executed as exactly what the gateway's log names. ignored:
   * no answer is due, and no server hears of it.
   */
  readonly expect: "refused" | "same" | "ignored";
  /** Where it differs in a catalog of one server: there unknown methods are relayed, and names stand without prefix. */
  readonly inCatalog?: "refused" | "same";
  /** The HTTP status of a refusal that is not one of a message. */
  readonly status?: number;
};

export type MessageParts = {
  readonly id?: string;
  readonly method?: string;
  readonly params?: string;
  readonly more?: string;
};

/** An ordinary call with some of its parts replaced by the text given. */
export function callText(parts: MessageParts = {}): string {
  const { id = "7", method = '"tools/call"', params = '{"name":"@safe","arguments":{}}', more = "" } = parts;
  return `{"jsonrpc":"2.0","id":${id},"method":${method},"params":${params}${more}}`;
}

/** An ordinary call of the tool with this name, given as JSON text. */
export const named = (name: string) => callText({ params: `{"name":${name},"arguments":{}}` });

export const utf8 = (text: string) => Buffer.from(text).toString("latin1");

export function refused(cases: Readonly<Record<string, string>>): SmugglingCase[] {
  return Object.entries(cases).map(([name, bytes]) => ({ name, bytes, expect: "refused" }));
}

export function same(cases: Readonly<Record<string, string>>): SmugglingCase[] {
  return Object.entries(cases).map(([name, bytes]) => ({ name, bytes, expect: "same" }));
}
