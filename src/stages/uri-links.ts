/**
 * Finds the places in MCP's results and list entries where a URI leads back to its server, and puts there what clients
 * see instead. Nothing else changes, byte for byte; one walk, in time and memory linear in the text. What stands in
 * `structuredContent` or in a text is the server's own matter.
 */
import { decodeString, type MappedUris, type Payload, payload, Scanner } from "../contract/index.ts";

/** A result of tools/call, resources/read, prompts/get, or of a task. */
export function mapResult(result: Payload, uris: MappedUris): Payload {
  return rewrite(result, uris, (walk) => walk.result());
}

/** A list entry's links to apps; its own name is not looked at. */
export function mapLinks(definition: Payload, uris: MappedUris): Payload {
  return rewrite(definition, uris, (walk) => walk.object({ _meta: () => walk.meta() }));
}

/** A notification about one resource. */
export function mapNotice(params: Payload, uris: MappedUris): Payload {
  return rewrite(params, uris, (walk) => walk.object({ uri: () => walk.uri() }));
}

function rewrite(original: Payload, uris: MappedUris, go: (walk: LinkWalk) => void): Payload {
  const { text, frame } = original;
  // Every key that counts ends in "uri" or "Uri" or is written with an escape.
  if (!/[uU]ri"|\\u/.test(text)) return original;
  const walk = new LinkWalk(text, uris);
  go(walk);
  return walk.places.length === 0 ? original : payload(insertAt(text, walk.places, uris.prefix), frame);
}

function insertAt(text: string, places: readonly number[], inserted: string): string {
  const parts: string[] = [];
  let from = 0;
  for (const place of places) {
    parts.push(text.slice(from, place));
    from = place;
  }
  parts.push(text.slice(from));
  return parts.join(inserted);
}

/** What to do with the values of some members. Each must end behind the value it was called on. */
type Members = Readonly<Record<string, () => void>>;

class LinkWalk {
  /** Where something is to be put in: behind the opening quotes of mapped URIs, in the order of the text. */
  readonly places: number[] = [];
  readonly #scanner: Scanner;
  readonly #uris: MappedUris;

  constructor(text: string, uris: MappedUris) {
    this.#scanner = new Scanner(text);
    this.#scanner.space();
    this.#uris = uris;
  }

  result(): void {
    this.object({
      content: () => this.#each(() => this.#block()),
      contents: () => this.#each(() => this.#resource()),
      messages: () => this.#each(() => this.object({ content: () => this.#each(() => this.#block()) })),
      _meta: () => this.meta(),
    });
  }

  meta(): void {
    this.object({
      "ui/resourceUri": () => this.uri(),
      ui: () => this.object({ resourceUri: () => this.uri() }),
    });
  }

  uri(): void {
    const place = this.#mappedPlace();
    if (place !== undefined) this.places.push(place);
  }

  /** Goes behind a value; answers where to put something in, if it is a mapped URI. */
  #mappedPlace(): number | undefined {
    const start = this.#skip();
    const uri = decodeString(this.#scanner.text.slice(start, this.#scanner.at));
    return uri !== undefined && this.#uris.has(uri) ? start + 1 : undefined;
  }

  /** A content block: its own URI counts only in a link, and what it is may be said behind it. */
  #block(): void {
    const before = this.places.length;
    const own: number[] = [];
    let isLink = false;
    this.object({
      type: () => {
        if (this.#string() === "resource_link") isLink = true;
      },
      uri: () => {
        const place = this.#mappedPlace();
        if (place !== undefined) own.push(place);
      },
      resource: () => this.#resource(),
      _meta: () => this.meta(),
    });
    if (!isLink || own.length === 0) return;
    for (const place of [...this.places.splice(before), ...own].sort((a, b) => a - b)) this.places.push(place);
  }

  #resource(): void {
    this.object({ uri: () => this.uri(), _meta: () => this.meta() });
  }

  #string(): string | undefined {
    const start = this.#skip();
    return decodeString(this.#scanner.text.slice(start, this.#scanner.at));
  }

  /** Goes behind the value; answers where it began. */
  #skip(): number {
    const start = this.#scanner.at;
    this.#scanner.value(0);
    return start;
  }

  /** Walks an object's members, each time one of these keys stands there; skips anything else. */
  object(members: Members): void {
    const scanner = this.#scanner;
    if (scanner.text.charAt(scanner.at) !== "{") return void this.#skip();
    this.#items("}", () => {
      const key = this.#string() ?? "";
      scanner.space();
      if (scanner.text.charAt(scanner.at) !== ":") scanner.fail("syntax", "expected :");
      scanner.at++;
      scanner.space();
      if (Object.hasOwn(members, key)) members[key]?.();
      else this.#skip();
    });
  }

  /** Each item of an array; prompts of older revisions have one block where others have several. */
  #each(item: () => void): void {
    if (this.#scanner.text.charAt(this.#scanner.at) === "[") this.#items("]", item);
    else item();
  }

  #items(close: string, item: () => void): void {
    const scanner = this.#scanner;
    scanner.at++;
    scanner.space();
    let isFirst = true;
    while (scanner.text.charAt(scanner.at) !== close) {
      if (!isFirst) {
        if (scanner.text.charAt(scanner.at) !== ",") scanner.fail("syntax", "expected ,");
        scanner.at++;
        scanner.space();
      }
      item();
      scanner.space();
      isFirst = false;
    }
    scanner.at++;
  }
}
