export {
  type BrowserCookie,
  browserIn,
  cookieLine,
  formCheck,
  isAskedAt,
  isFromElsewhere,
  newBrowser,
} from "./own-forms.ts";
export { escapeHtml, escapeVisibly, OWN_PAGE_LINES, PAGE_LINES, page } from "./page.ts";
