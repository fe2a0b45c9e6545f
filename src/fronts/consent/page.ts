/** The few pages of the gateway that people see while they let it use a server. No script, nothing from elsewhere. */
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? "");
}

/** `body` is HTML. */
export function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title><style>body{font:16px/1.5 system-ui;max-width:34em;margin:4em auto;padding:0 1em}
button{font:inherit;padding:.5em 1.5em}</style><h1>${escapeHtml(title)}</h1>${body}</html>`;
}

export const PAGE_LINES =
  "Content-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n" +
  "Referrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\n" +
  "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'\r\n";
