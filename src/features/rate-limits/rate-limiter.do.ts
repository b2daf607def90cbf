import { DurableObject } from "cloudflare:workers";
import { POLICIES, type PolicyName } from "./policies.ts";
import { type AdmissionLog, admit } from "./window.ts";

const SAVE_EVERY_MS = 200;

interface State {
  version: number;
  logs: Partial<Record<PolicyName, AdmissionLog>>;
}

export interface Take {
  admitted: boolean;
  remaining: number;
  waitMs: number;
  /** The newest version of the key that this object was told of; 0 if it never changed. */
  version: number;
}

/**
 * One key's windows, and the version of the key. An object that is idle may lose its memory after
 * about ten seconds, and a write on every request would halve what it can take: so the state lives
 * in memory, is written at most every 200 ms, and is read when the object wakes.
 */
export class RateLimiter extends DurableObject<Env> {
  #state: State = { version: 0, logs: {} };
  #saving = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.blockConcurrencyWhile(async () => {
      this.#state = (await ctx.storage.get<State>("state")) ?? this.#state;
    });
  }

  /** Asks for the admission of one request under `policy`, by a caller who knows this version. */
  take(policy: PolicyName, version: number): Take {
    const decision = admit(this.#state.logs[policy] ?? [], POLICIES[policy].limit, Date.now());
    if (decision.admitted) this.#state.logs[policy] = decision.log;
    if (decision.admitted || version > this.#state.version) this.#saveSoon();
    this.#state.version = Math.max(this.#state.version, version);
    const { admitted, remaining, waitMs } = decision;
    return { admitted, remaining, waitMs, version: this.#state.version };
  }

  /** Tells of a change to the key: whoever remembers an older version has to read it again. */
  async raiseVersion(version: number): Promise<void> {
    this.#state.version = Math.max(this.#state.version, version);
    await this.ctx.storage.put("state", this.#state);
  }

  #saveSoon(): void {
    if (this.#saving) return;
    this.#saving = true;
    setTimeout(() => {
      this.#saving = false;
      this.ctx.waitUntil(this.ctx.storage.put("state", this.#state));
    }, SAVE_EVERY_MS);
  }
}
