import { DurableObject } from "cloudflare:workers";
import {
  OrganizationWindow,
  type OrganizationWindowState,
  type TokenRequest,
  type TokenResponse,
} from "./organization-window.ts";
import { organizationLimit, type PolicyName } from "./policies.ts";
import { throttledSave } from "./throttled-save.ts";

/** The windows of one organization. The objects of its keys prefetch tokens of them. */
export class OrganizationLimiter extends DurableObject<Env> {
  readonly #windows = new Map<PolicyName, OrganizationWindow>();
  #stored = new Map<string, OrganizationWindowState>();
  readonly #unsaved = new Set<PolicyName>();
  readonly #scheduleSave: () => void;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#scheduleSave = throttledSave(ctx, () => this.#drainUnsaved());
    ctx.blockConcurrencyWhile(async () => {
      this.#stored = await ctx.storage.list<OrganizationWindowState>();
    });
  }

  /** Keeps its name: objects of earlier releases call it. */
  lease(policy: PolicyName, request: TokenRequest): TokenResponse {
    this.#unsaved.add(policy);
    this.#scheduleSave();
    return this.#windowOf(policy).grant(request, Date.now());
  }

  #windowOf(policy: PolicyName): OrganizationWindow {
    const window =
      this.#windows.get(policy) ??
      new OrganizationWindow(organizationLimit(policy), this.#stored.get(policy));
    this.#windows.set(policy, window);
    return window;
  }

  #drainUnsaved(): Record<string, unknown> {
    const entries = [...this.#unsaved].map((policy) => [policy, this.#windows.get(policy)?.state]);
    this.#unsaved.clear();
    return Object.fromEntries(entries);
  }
}
