/** Where a Redis is, and as whom to speak to it. `label` is what may be shown: it holds no password. */
export type RedisPlace = {
  readonly label: string;
  readonly host: string;
  readonly port: number;
  readonly database: number;
  readonly isSecure: boolean;
  readonly username?: string;
  readonly password?: string;
};

const FORM = "redis://[user:password@]host[:port][/database], or rediss:// for TLS";

/** Throws an error that repeats nothing of the text: it may hold a password. */
export function parseRedisUrl(text: string): RedisPlace {
  if (!URL.canParse(text)) throw new Error(`the URL of Redis cannot be read: it has the form ${FORM}`);
  const url = new URL(text);
  if (url.protocol !== "redis:" && url.protocol !== "rediss:")
    throw new Error(`the URL of Redis begins with ${url.protocol}, but it has the form ${FORM}`);
  const database = /^\/?(\d{0,5})$/.exec(url.pathname)?.[1];
  if (database === undefined || url.hostname === "")
    throw new Error(`the URL of Redis names no host, or a database that is not a number: it has the form ${FORM}`);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port === "" ? 6379 : Number(url.port);
  return {
    label: `${url.protocol}//${url.hostname}:${port}/${Number(database)}`,
    host,
    port,
    database: Number(database),
    isSecure: url.protocol === "rediss:",
    ...(url.username === "" ? {} : { username: decode(url.username) }),
    ...(url.password === "" ? {} : { password: decode(url.password) }),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error("the URL of Redis has a user or password with a % that is no escape: write %25 for it");
  }
}
