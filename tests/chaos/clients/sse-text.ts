export type SseEvent = { readonly id: string | undefined; readonly data: string };

/** The whole events in a stream's text. */
export function eventsIn(text: string): SseEvent[] {
  const whole = text.slice(0, text.lastIndexOf("\n\n") + 2);
  return whole
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => {
      const lines = block.split("\n");
      const of = (name: string) =>
        lines
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).trim())
          .join("\n");
      const id = of("id");
      return { id: id === "" ? undefined : id, data: of("data") };
    });
}
