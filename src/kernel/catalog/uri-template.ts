/** `none`: nothing may stand there; `segment`: something without a slash; `any`: anything, also nothing. */
type Gap = "none" | "segment" | "any";

/**
 * Whether a URI could come from a URI template. No regular expression: templates are a server's text, and matching
 * here only chooses who is asked, so it may be generous; it must be linear.
 */
export function matchesTemplate(template: string, uri: string): boolean {
  let at = 0;
  let gap = "none" as Gap;
  let rest = template;
  while (rest !== "") {
    const open = rest.indexOf("{");
    const literal = open < 0 ? rest : rest.slice(0, open);
    if (literal !== "") {
      const isLast = open < 0;
      const found = isLast && gap !== "none" ? uri.length - literal.length : uri.indexOf(literal, at);
      if (found < at || !uri.startsWith(literal, found) || !fits(gap, uri.slice(at, found))) return false;
      at = found + literal.length;
      gap = "none";
    }
    if (open < 0) break;
    const close = rest.indexOf("}", open);
    if (close < 0) return false;
    const operator = rest.charAt(open + 1);
    gap = "+#/?&;.".includes(operator) || rest.charAt(close - 1) === "*" || gap === "any" ? "any" : "segment";
    rest = rest.slice(close + 1);
  }
  return fits(gap, uri.slice(at));
}

function fits(gap: Gap, text: string): boolean {
  if (gap === "none") return text === "";
  return gap === "any" || (text !== "" && !text.includes("/"));
}

/** `file` of `file:///x`; "" where there is none. */
export function schemeOf(uri: string): string {
  const colon = uri.indexOf(":");
  return colon < 0 ? "" : uri.slice(0, colon).toLowerCase();
}
