/**
 * Moments at which a test may kill the process, to see that nothing which a caller was told is lost. Each stands right
 * before or right after something becomes durable. Where nobody asked for it, nothing happens.
 */
let strike: ((point: string) => void) | undefined;

/** `point`: what has just happened, as `area.thing.moment`. */
export function faultPoint(point: string): void {
  strike?.(point);
}

/** What happens at a point; undefined: nothing. Only the program's start calls this, when a test asks for it. */
export function armFaultPoints(onPoint: ((point: string) => void) | undefined): void {
  strike = onPoint;
}
