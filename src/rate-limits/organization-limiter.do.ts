import { DurableObject } from "cloudflare:workers";
import { CostBudget } from "./cost-budget.ts";
import { LogBytes, type StoredLogBytes } from "./log-bytes.ts";
import {
  OrganizationWindow,
  type OrganizationWindowState,
  type TokenRequest,
  type TokenResponse,
} from "./organization-window.ts";
import {
  BUDGETS,
  type BudgetName,
  budgetOf,
  organizationLimit,
  type PolicyName,
} from "./policies.ts";
import type { StoredUse } from "./shared-use.ts";
import { throttledSave } from "./throttled-save.ts";

/** Precedes the name of a stored budget: those of the windows are names of policies. */
const BUDGET_PREFIX = "budget:";
const LOG_BYTES_KEY = "log-bytes";

type Stored = OrganizationWindowState | StoredUse | StoredLogBytes;

/**
 * The windows and the budgets of one organization. The objects of its keys prefetch tokens of the windows,
 * and report what requests have cost. Its logs reserve bytes of the day.
 */
export class OrganizationLimiter extends DurableObject<Env> {
  readonly #windows = new Map<PolicyName, OrganizationWindow>();
  readonly #budgets = new Map<BudgetName, CostBudget>();
  #logBytes = new LogBytes();
  #stored = new Map<string, Stored>();
  readonly #unsaved = new Map<string, () => unknown>();
  readonly #scheduleSave: () => void;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#scheduleSave = throttledSave(ctx, () => this.#drainUnsaved());
    ctx.blockConcurrencyWhile(async () => {
      this.#stored = await ctx.storage.list<Stored>();
      this.#logBytes = new LogBytes(this.#stored.get(LOG_BYTES_KEY) as StoredLogBytes | undefined);
    });
  }

  /** Charges what requests have cost, and grants tokens while the budget admits requests. */
  lease(policy: PolicyName, request: TokenRequest): TokenResponse {
    const now = Date.now();
    const overBudgetMs = this.#charge(budgetOf(policy), request, now);
    const window = this.#windowOf(policy);
    this.#unsaved.set(policy, () => window.state);
    this.#scheduleSave();
    const admissible =
      overBudgetMs > 0 ? { ...request, waiting: request.exempt, prefetch: 0 } : request;
    return { ...window.grant(admissible, now), overBudgetMs };
  }

  /** Charges what the schedule has cost. */
  charge(cost: Pick<TokenRequest, "id" | "units" | "consumerId">): void {
    this.#charge("caller", cost, Date.now());
    this.#scheduleSave();
  }

  /** See `LogBytes.reserve`. */
  reserveLogBytes(id: string, bytes: number): number {
    this.#unsaved.set(LOG_BYTES_KEY, () => this.#logBytes.stored);
    this.#scheduleSave();
    return this.#logBytes.reserve(id, bytes, Date.now());
  }

  /** Returns for how long the budget admits no requests. */
  #charge(
    name: BudgetName,
    { id, units, consumerId }: Pick<TokenRequest, "id" | "units" | "consumerId">,
    now: number,
  ): number {
    const key = `${BUDGET_PREFIX}${name}`;
    const stored = this.#stored.get(key) as StoredUse | undefined;
    const budget = this.#budgets.get(name) ?? new CostBudget(BUDGETS[name], stored);
    this.#budgets.set(name, budget);
    budget.charge(id, consumerId, units, now);
    if (units > 0) this.#unsaved.set(key, () => budget.stored);
    return budget.waitMs(consumerId, now);
  }

  #windowOf(policy: PolicyName): OrganizationWindow {
    const stored = this.#stored.get(policy) as OrganizationWindowState | undefined;
    const window =
      this.#windows.get(policy) ?? new OrganizationWindow(organizationLimit(policy), stored);
    this.#windows.set(policy, window);
    return window;
  }

  #drainUnsaved(): Record<string, unknown> {
    const entries = [...this.#unsaved].map(([name, read]) => [name, read()]);
    this.#unsaved.clear();
    return Object.fromEntries(entries);
  }
}
