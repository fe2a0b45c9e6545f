/** List cursors: opaque to clients, bound to one kind and to one list, by its stamp. */

export type Cursor = { readonly kind: string; readonly offset: number; readonly stamp: number };

export function encodeCursor(kind: string, offset: number, stamp: number): string {
  return Buffer.from(`${kind}:${offset}:${stamp}`).toString("base64url");
}

export function decodeCursor(text: string | undefined): Cursor | undefined {
  const match = /^([a-z]+):(\d{1,15}):(\d{1,15})$/.exec(Buffer.from(text ?? "", "base64url").toString("latin1"));
  if (!match) return undefined;
  return { kind: match[1] as string, offset: Number(match[2]), stamp: Number(match[3]) };
}
