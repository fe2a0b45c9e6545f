/** A gated valve and the browser that its approvers have: started before the tests of a file, ended after them. */
import { afterAll, beforeAll } from "vitest";
import { type GateObject, gateOf, ValveRig } from "../../e2e/approvals/valve-rig.ts";
import { TestBrowser } from "./browser.ts";

const AUTH = '[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n';
const TOKENS = { agent: "--user ada --client agent", operator: "--user bob --role operator" };

/** A call that waits, and how its caller makes it again. */
export type Asked = {
  readonly valve: string;
  readonly gate: GateObject;
  readonly again: () => ReturnType<ValveRig["call"]>;
};

export class ValveInBrowser {
  #browser: TestBrowser | undefined;
  #rig: ValveRig | undefined;
  #number = 0;

  constructor() {
    beforeAll(async () => {
      this.#browser = await TestBrowser.start();
      this.#rig = await ValveRig.start({ gate: 'hold = "50ms"\nevidence = "operator"', more: AUTH, tokens: TOKENS });
    });
    afterAll(async () => {
      await this.#browser?.[Symbol.asyncDispose]();
      await this.#rig?.[Symbol.asyncDispose]();
    });
  }

  get browser(): TestBrowser {
    return this.#browser ?? fail();
  }

  get rig(): ValveRig {
    return this.#rig ?? fail();
  }

  /** The agent's call for a valve that no other test has asked for. */
  async ask(args: object = {}): Promise<Asked> {
    const valve = `v-${++this.#number}`;
    const again = () => this.rig.call("plant.open", { valve, ...args }, this.rig.as("agent"));
    return { valve, gate: gateOf(await again()), again };
  }
}

function fail(): never {
  throw new Error("the valve is there in tests and hooks only");
}
