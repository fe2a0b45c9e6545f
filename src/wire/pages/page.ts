/** The few pages of the gateway that people see. No script, nothing from elsewhere, nobody else's frame around them. */
import { createHash } from "node:crypto";
import { showUnseen } from "../../contract/index.ts";

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

/** For text that others wrote and somebody decides by: whatever it holds is seen. */
export function escapeVisibly(text: string): string {
  return escapeHtml(showUnseen(text));
}

const STYLE = `body{font:16px/1.5 system-ui;max-width:34em;margin:4em auto;padding:0 1em}
button{font:inherit;padding:.5em 1.5em}
dt{font-weight:bold}dd{margin:0 0 .5em}
pre,code,textarea{font:13px/1.5 monospace;overflow-wrap:anywhere}
pre{white-space:pre-wrap;background:#8882;padding:.5em;max-height:24em;overflow:auto}
textarea{width:100%;min-height:7em;box-sizing:border-box}`;

/** `body` is HTML. */
export function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeVisibly(title)}</title><style>${STYLE}</style><h1>${escapeVisibly(title)}</h1>${body}</html>`;
}

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

function pageLines(more: string): string {
  return (
    "Content-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n" +
    "Referrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\nCross-Origin-Opener-Policy: same-origin\r\n" +
    `Content-Security-Policy: default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'${more}\r\n`
  );
}

/** For pages whose forms lead on to another site. */
export const PAGE_LINES = pageLines("");

/** For pages whose forms stay here. */
export const OWN_PAGE_LINES = pageLines("; form-action 'self'");
