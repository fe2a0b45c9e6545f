/** The API as a program uses it. */
export type ApiAnswer = {
  readonly status: number;
  readonly headers: Headers;
  /** What the answer says; undefined where there is no JSON in it. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
  readonly body: any;
};

export type Api = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<ApiAnswer>;

export function apiAt(origin: string, token?: string): Api {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(`${origin}${path}`, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    });
    const text = await response.text();
    const isJson = (response.headers.get("content-type") ?? "").includes("json");
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== "" ? JSON.parse(text) : undefined,
    };
  };
}

export type Made = { readonly id: string; readonly token: string };

/** A token, made with the right of `api`. */
export async function makeToken(api: Api, order: object): Promise<Made> {
  const { status, body } = await api("POST", "/api/tokens", order);
  if (status !== 201) throw new Error(`no token was made: ${status} ${JSON.stringify(body)}`);
  return body;
}
