/** Reads JSON as parsers do that keep the first of two equal keys. JSON.parse keeps the last: what both read alike is unambiguous. */
export function parseFirstKeyWins(text: string): unknown {
  let at = 0;

  function space(): void {
    while (/\s/.test(text[at] ?? "")) at++;
  }

  function literal(): unknown {
    const match = /"(?:[^"\\]|\\.)*"|[^\s,\]}]+/sy;
    match.lastIndex = at;
    const [found] = match.exec(text) ?? [""];
    at += found.length;
    return JSON.parse(found);
  }

  function items(close: string, take: () => void): void {
    at++;
    space();
    while (text[at] !== close) {
      take();
      space();
      if (text[at] === ",") at++;
      space();
    }
    at++;
  }

  function value(): unknown {
    space();
    if (text[at] === "[") {
      const list: unknown[] = [];
      items("]", () => list.push(value()));
      return list;
    }
    if (text[at] !== "{") return literal();
    const members = new Map<string, unknown>();
    items("}", () => {
      const key = String(literal());
      space();
      at++;
      const member = value();
      if (!members.has(key)) members.set(key, member);
    });
    return Object.fromEntries(members);
  }

  return value();
}
