import { DurableObject } from "cloudflare:workers";
import {
  type LeaseAnswer,
  type LeaseRequest,
  OrganizationWindow,
  type OrganizationWindowState,
} from "./organization-window.ts";
import { organizationLimit, type PolicyName } from "./policies.ts";
import { saveSoon } from "./save-soon.ts";

/** One organization's windows, which the objects of its keys lease tokens of. */
export class OrganizationLimiter extends DurableObject<Env> {
  readonly #windows = new Map<PolicyName, OrganizationWindow>();
  #stored = new Map<string, OrganizationWindowState>();
  readonly #unsaved = new Set<PolicyName>();
  readonly #saveSoon: () => void;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#saveSoon = saveSoon(ctx, () => this.#takeUnsaved());
    ctx.blockConcurrencyWhile(async () => {
      this.#stored = await ctx.storage.list<OrganizationWindowState>();
    });
  }

  /** Admits requests that wait at a key's object, and grants it tokens in advance. */
  lease(policy: PolicyName, request: LeaseRequest): LeaseAnswer {
    this.#unsaved.add(policy);
    this.#saveSoon();
    return this.#windowOf(policy).lease(request, Date.now());
  }

  #windowOf(policy: PolicyName): OrganizationWindow {
    const window =
      this.#windows.get(policy) ??
      new OrganizationWindow(organizationLimit(policy), this.#stored.get(policy));
    this.#windows.set(policy, window);
    return window;
  }

  #takeUnsaved(): Record<string, unknown> {
    const entries = [...this.#unsaved].map((policy) => [policy, this.#windows.get(policy)?.state]);
    this.#unsaved.clear();
    return Object.fromEntries(entries);
  }
}
