/**
 * Debian's Chromium, as a person has it but without a screen. Each visitor has cookies and storage of their own, and hears of
 * nothing that the browser complains about unless a test asks for it.
 */
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { ownEnvironment } from "../../kit/own-home.ts";
import { pathOf } from "../../needs/need.ts";
import { chromium as debianChromium } from "../../needs/programs.ts";

const FLAGS = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Sites of others: as foreign as they can be, and on this machine.
  "--host-resolver-rules=MAP *.example 127.0.0.1",
];
/** For one step of a page, on a machine that does other things too. */
const PATIENCE_MS = 20_000;

export class TestBrowser implements AsyncDisposable {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** With a new, empty profile, which ends with it. */
  static async start(): Promise<TestBrowser> {
    // Root cannot have the sandbox, and all that is opened here is our own.
    return new TestBrowser(
      await chromium.launch({
        executablePath: pathOf(debianChromium),
        args: FLAGS,
        chromiumSandbox: false,
        // It writes more than its profile.
        env: ownEnvironment(),
      }),
    );
  }

  /** Somebody who has not been anywhere yet. `headers`: go with everything that they ask for. */
  async visitor(options: { headers?: Record<string, string>; dark?: boolean } = {}): Promise<Visitor> {
    const context = await this.#browser.newContext({
      ...(options.headers && { extraHTTPHeaders: options.headers }),
      colorScheme: options.dark ? "dark" : "light",
      viewport: { width: 900, height: 900 },
    });
    context.setDefaultTimeout(PATIENCE_MS);
    return new Visitor(context, await context.newPage());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
  }
}

export class Visitor implements AsyncDisposable {
  readonly page: Page;
  /** What stands in the console of the browser: errors of scripts, and what was refused by policies. */
  readonly complaints: string[] = [];
  readonly #context: BrowserContext;

  constructor(context: BrowserContext, page: Page) {
    this.#context = context;
    this.page = page;
    context.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") this.complaints.push(message.text());
    });
    context.on("weberror", (error) => this.complaints.push(String(error.error())));
  }

  /** Goes to an address; resolves with the status of the page there. */
  async open(url: string): Promise<number> {
    const response = await this.page.goto(url);
    return response?.status() ?? 0;
  }

  /** All that somebody can read on the page. */
  async text(): Promise<string> {
    // biome-ignore lint/performance/useDomNodeTextContent: what is hidden from people is not what they read.
    return await this.page.locator("body").innerText();
  }

  /** Presses the first button of this name. Resolves with the status of the page that it leads to, redirects followed. */
  async press(name: string): Promise<number> {
    return await this.follow(() => this.page.getByRole("button", { name, exact: true }).first().click());
  }

  /** Does what leads to another page, and is there afterwards. Resolves with its status. */
  async follow(act: () => Promise<unknown>): Promise<number> {
    const arrived = this.page.waitForResponse(
      (response) => response.request().isNavigationRequest() && (response.status() < 300 || response.status() > 399),
    );
    const [response] = await Promise.all([arrived, act()]);
    await response.finished();
    await this.page.waitForLoadState();
    return response.status();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
  }
}
