import { DurableObject } from "cloudflare:workers";
import {
  type LeaseAnswer,
  type LeaseRequest,
  OrganizationWindow,
  type OrganizationWindowState,
} from "./organization-window.ts";
import { organizationLimit, POLICIES, type PolicyName } from "./policies.ts";
import { saveSoon } from "./save-soon.ts";

/** One organization's windows, which the objects of its keys lease tokens of. */
export class OrganizationLimiter extends DurableObject<Env> {
  readonly #windows = new Map<PolicyName, OrganizationWindow>();
  readonly #unsaved = new Set<PolicyName>();
  readonly #saveSoon: () => void;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#saveSoon = saveSoon(ctx, () => this.#takeUnsaved());
    ctx.blockConcurrencyWhile(async () => {
      const stored = await ctx.storage.list<OrganizationWindowState>();
      for (const name of Object.keys(POLICIES) as PolicyName[]) {
        this.#windows.set(name, new OrganizationWindow(organizationLimit(name), stored.get(name)));
      }
    });
  }

  /** Admits requests that wait at a key's object, and grants it tokens in advance. */
  lease(policy: PolicyName, request: LeaseRequest): LeaseAnswer {
    const window = this.#windows.get(policy);
    if (!window) throw new Error(`There is no policy ${policy}`);
    this.#unsaved.add(policy);
    this.#saveSoon();
    return window.lease(request, Date.now());
  }

  #takeUnsaved(): Record<string, unknown> {
    const entries = [...this.#unsaved].map((policy) => [policy, this.#windows.get(policy)?.state]);
    this.#unsaved.clear();
    return Object.fromEntries(entries);
  }
}
