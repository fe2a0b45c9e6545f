/** Whether a caller takes what is answered; `written`: its Accept header. Nothing written means anything. */
export function accepts(written: string | undefined, isStream: boolean): boolean {
  if (written === undefined || written.trim() === "") return true;
  const [family, subtype] = isStream ? ["text", "event-stream"] : ["application", "json"];
  const taken = new Set(["*/*", `${family}/*`, `${family}/${subtype}`]);
  return written.split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return taken.has(type) && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}
