export { type BrowserCookie, browserIn, cookieLine, formCheck, isAskedAt, newBrowser } from "./own-forms.ts";
export { escapeHtml, escapeVisibly, OWN_PAGE_LINES, PAGE_LINES, page } from "./page.ts";
