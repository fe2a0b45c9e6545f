/** The page of the guide that a session in a terminal becomes, without what differs from run to run. */

const HEAD = `<!-- Written by tests/e2e/first-minute from what the terminal showed; \`npm run e2e -- first-minute -u\` writes it anew. -->
`;

const COLUMNS = 80;

/** Volatile text, and what stands for it. */
const MASKS: readonly (readonly [RegExp, string])[] = [
  [/127\.0\.0\.1:\d+/g, "127.0.0.1:7411"],
  [/isthmus@\d+\.\d+\.\d+\S*/g, "isthmus@…"],
  [/isthmus-backup-\d+-[0-9a-f]+/g, "isthmus-backup-…"],
  [/^( {2}\S+ +starting …) \d+ s$/gm, "$1 0 s"],
  [/^(\^C)?\d\d:\d\d:\d\d(?= {2})/gm, "$100:00:00"],
  [/\d+(?:\.\d+)? ms/g, "… ms"],
  [/^(ok +node:) \S+$/gm, "$1 …"],
  [/^(ok +pins:) \d+/gm, "$1 …"],
];

export class Recording {
  readonly #parts: string[] = [HEAD];
  readonly #shown: string[] = [];

  /** Paragraphs of the page itself. */
  tell(...paragraphs: string[]): void {
    this.#parts.push(...paragraphs.map((text) => `${text}\n`));
  }

  /** What a terminal showed. */
  show(screen: string): void {
    this.#shown.push(...screen.split("\n"));
    this.#parts.push(`\`\`\`text\n${mask(screen)}\n\`\`\`\n`);
  }

  /** Lines that the terminal had to break. */
  get tooWide(): string[] {
    return this.#shown.filter((line) => [...line].length > COLUMNS);
  }

  get page(): string {
    return this.#parts.join("\n");
  }
}

function mask(screen: string): string {
  return MASKS.reduce(
    (text, [volatile, shown]) => text.replaceAll(volatile, shown),
    screen.replace(/^\n+/, "").trimEnd(),
  );
}

/** The first and last lines, where there are many. */
export function shorten(screen: string, first: number, last: number): string {
  const lines = screen.split("\n");
  return lines.length <= first + last + 1 ? screen : [...lines.slice(0, first), "…", ...lines.slice(-last)].join("\n");
}
