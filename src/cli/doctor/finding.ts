/** One thing that was looked at. */
export type Finding = {
  readonly level: "ok" | "warning" | "problem";
  /** What was looked at: `node`, `config`, `servers.files`. */
  readonly what: string;
  readonly found: string;
  /** Of everything that is not ok. */
  readonly advice?: string;
};

export function ok(what: string, found: string): Finding {
  return { level: "ok", what, found };
}

export function warning(what: string, found: string, advice: string): Finding {
  return { level: "warning", what, found, advice };
}

export function problem(what: string, found: string, advice: string): Finding {
  return { level: "problem", what, found, advice };
}
