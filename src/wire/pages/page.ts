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

/** Of a decision, the button that is no yes stands first: the other one stands out, so that nobody takes the first for it. */
const STYLE = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:42em;margin:2.5em auto;padding:0 1em}
h1{font-size:1.5em;line-height:1.3}
h2{font-size:1.1em;margin:2em 0 .5em;padding-top:1.5em;border-top:1px solid #8884}
h1,dd,td{overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.5em 1.5em}
dt{opacity:.75}dd{margin:0;min-width:0}
pre,code,textarea{font:13px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}
pre{white-space:pre-wrap;background:#8882;border-radius:.4em;padding:.6em .8em;margin:0;max-height:24em;overflow:auto}
button{font:inherit;padding:.5em 1.5em;margin-right:.5em;border:1px solid #8889;border-radius:.4em;cursor:pointer}
button.primary{background:#1a56c4;border-color:#1a56c4;color:#fff;font-weight:600}
button.plain{background:none;border:0;padding:0;margin:0;color:inherit;text-decoration:underline}
.wrong{border-left:.25em solid #c33;padding-left:.75em}
textarea{width:100%;min-height:7em;box-sizing:border-box;border:1px solid #8889;border-radius:.4em;padding:.6em .8em}
@media(max-width:40em){dl{display:block}dd{margin-bottom:.75em}}`;

/** `body` is HTML. */
export function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeVisibly(title)}</title><style>${STYLE}</style><h1>${escapeVisibly(title)}</h1>${body}</html>`;
}

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

function pageLines(more: string): string {
  return (
    "Content-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n" +
    // Not no-referrer: under that, browsers send our own forms with "Origin: null", as they do those of sandboxed frames.
    "Referrer-Policy: same-origin\r\nX-Frame-Options: DENY\r\nCross-Origin-Opener-Policy: same-origin\r\n" +
    `Content-Security-Policy: default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'${more}\r\n`
  );
}

/** For pages whose forms lead on to another site. */
export const PAGE_LINES = pageLines("");

/** For pages whose forms stay here. */
export const OWN_PAGE_LINES = pageLines("; form-action 'self'");
