/** A browser without a screen: follows links and redirects, keeps cookies, and sends the forms of the pages it is shown. */

export type Page = { readonly url: string; readonly status: number; readonly text: string };

type Step = { readonly url: string; readonly form?: URLSearchParams };

const MAX_STEPS = 20;

export class UserAgent {
  /** By origin. */
  readonly #cookies = new Map<string, Map<string, string>>();
  /** Every address it went to. */
  readonly visited: string[] = [];

  /** Goes to an address and on wherever it is sent, until there is a page. */
  async open(url: string): Promise<Page> {
    return await this.#go({ url });
  }

  /** Sends the only form of a page, its fields changed as given. */
  async submit(page: Page, fields: Readonly<Record<string, string>> = {}): Promise<Page> {
    const form = new URLSearchParams();
    for (const [tag] of page.text.matchAll(/<input[^>]*>/gi)) {
      const name = attribute(tag, "name");
      if (name !== undefined) form.set(name, attribute(tag, "value") ?? "");
    }
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    const action = attribute(/<form[^>]*>/i.exec(page.text)?.[0] ?? "", "action") ?? page.url;
    return await this.#go({ url: new URL(action, page.url).href, form });
  }

  async #go(first: Step): Promise<Page> {
    let step = first;
    for (let steps = 0; steps < MAX_STEPS; steps++) {
      const { url, form } = step;
      const { origin } = new URL(url);
      this.visited.push(url);
      const response = await fetch(url, {
        redirect: "manual",
        headers: { cookie: this.#cookieLine(origin) },
        ...(form && { method: "POST", body: form }),
      });
      this.#keep(origin, response.headers.getSetCookie());
      const location = response.headers.get("location");
      if (location === null || response.status < 300 || response.status > 399)
        return { url, status: response.status, text: await response.text() };
      await response.body?.cancel();
      step = { url: new URL(location, url).href };
    }
    throw new Error(`too many steps from ${first.url}`);
  }

  #cookieLine(origin: string): string {
    return [...(this.#cookies.get(origin) ?? [])].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  #keep(origin: string, lines: readonly string[]): void {
    const jar = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, jar);
    for (const line of lines) {
      const [, name = "", value = ""] = /^([^=;]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") jar.delete(name);
      else jar.set(name, value);
    }
  }
}

function attribute(tag: string, name: string): string | undefined {
  const [, double, single] = new RegExp(`\\s${name}=(?:"([^"]*)"|'([^']*)')`, "i").exec(tag) ?? [];
  return (double ?? single)
    ?.replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&");
}
