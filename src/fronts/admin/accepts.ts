import { namesType } from "../../contract/index.ts";

/** Whether a caller takes what is answered; `written`: its Accept header. Nothing written means anything. */
export function accepts(written: string | undefined, isStream: boolean): boolean {
  if (written === undefined || written.trim() === "") return true;
  const [family, subtype] = isStream ? ["text", "event-stream"] : ["application", "json"];
  return namesType(written, ["*/*", `${family}/*`, `${family}/${subtype}`]);
}
