import type { Log, Slices, Steps } from "../../contract/index.ts";

/**
 * Goes through everybody, a few at a time, between calls. Asked for again meanwhile, it goes once more when it is through, however
 * often it was asked.
 */
export function createSlicedPass({ slices, log }: { slices: Slices; log: Log }, steps: () => Steps<void>): () => void {
  let isRunning = false;
  let isAskedAgain = false;

  async function goOn(): Promise<void> {
    try {
      do {
        isAskedAgain = false;
        await slices.run(steps());
      } while (isAskedAgain);
    } catch (cause) {
      log.error("looking again at who listens failed inside the gateway", { cause });
    } finally {
      isRunning = false;
    }
  }

  return function ask(): void {
    isAskedAgain = true;
    if (isRunning) return;
    isRunning = true;
    void goOn();
  };
}
