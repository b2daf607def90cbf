import { type Operation, operationAt } from "../support/contract.ts";
import { identifiersIn, ORGANIZATION, prefixOf, SECRET, successOf } from "./document.ts";
import { ORIGIN, type PlannedRequest, type Reply } from "./worker.ts";

const LINK = /https:\/\/longshore\.test\/[^\s"'<>\\]+|(?<=(?:action|href)=")\/[^"]+/g;
const METHODS = ["GET", "POST"] as const;
/** Of the tokens in links, which authenticate no request. */
const LINK_PREFIXES = ["lsi", "lsl"];

interface Sighting {
  value: string;
  /** The organization that it is of. Undefined: not known. */
  organizationId: string | undefined;
}

/** Everything that any response has shown, by what the document says that it is. */
export class Knowledge {
  /** The paths and queries of links, by operation. */
  readonly links = new Map<string, Set<string>>();
  /** Credentials that were refused, each alone or with the operation. */
  readonly #refused = new Set<string>();
  /** Those of no session, such as that of a sign-in that has begun. */
  readonly #cookies = new Map<string, string>();
  /** By kind, in the order in which they were seen. */
  readonly #seen = new Map<string, Map<string, Sighting>>();

  add(kind: string, value: string, organizationId?: string): void {
    const sightings = this.#seen.get(kind) ?? new Map<string, Sighting>();
    this.#seen.set(kind, sightings);
    const known = sightings.get(value);
    if (known) known.organizationId ??= organizationId;
    else sightings.set(value, { value, organizationId });
  }

  all(kind: string): string[] {
    return [...(this.#seen.get(kind)?.keys() ?? [])];
  }

  /** Those of an organization, and those of which the organization is not known. */
  within(kind: string, organizationId: string | undefined): string[] {
    const sightings = [...(this.#seen.get(kind)?.values() ?? [])];
    return sightings
      .filter((each) => (each.organizationId ?? organizationId) === organizationId)
      .map(({ value }) => value);
  }

  get credentials(): string[] {
    const kinds = [...this.#seen.keys()].filter((kind) => kind.startsWith("ls"));
    const authenticating = kinds.filter((kind) => !LINK_PREFIXES.includes(kind));
    return authenticating.flatMap((kind) => this.all(kind));
  }

  credentialsOf(organizationId: string): string[] {
    return this.credentials.filter((each) => this.organizationOf(each) === organizationId);
  }

  isRefused({ operationId }: Operation, credential: string): boolean {
    return this.#refused.has(credential) || this.#refused.has(`${operationId} ${credential}`);
  }

  organizationOf(secret: string): string | undefined {
    return this.#seen.get(prefixOf(secret))?.get(secret)?.organizationId;
  }

  addSecret(secret: string, organizationId?: string): void {
    this.add(prefixOf(secret), secret, organizationId);
  }

  addLink(url: string): void {
    const { origin, pathname, search } = new URL(url.replaceAll("&amp;", "&"), ORIGIN);
    if (origin !== ORIGIN) return;
    for (const method of METHODS) {
      const operation = operationAt(method, pathname);
      if (!operation) continue;
      const known = this.links.get(operation.operationId) ?? new Set();
      this.links.set(operation.operationId, known.add(pathname + search));
    }
  }

  /**
   * Adds the IDs in a successful response to a holder of a credential. Returns the organization that
   * they are of: the one that the response names, or that of the credential.
   */
  learnIds(operation: Operation, body: unknown, organizationId?: string): string | undefined {
    const found = [...identifiersIn(successOf(operation), body)];
    const named = found.find(([kind]) => kind === ORGANIZATION)?.[1];
    const owner = named ?? organizationId;
    for (const [kind, id] of found) this.add(kind, id, kind === ORGANIZATION ? id : owner);
    return owner;
  }

  /** Of a request without a session. */
  get cookieHeader(): Record<string, string> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    return cookie === "" ? {} : { cookie };
  }

  /** Adds all that a response shows. */
  learn(operation: Operation, call: PlannedRequest, { status, headers, text, body }: Reply): void {
    const { credential } = call;
    if (credential && status === 401) this.#refused.add(credential);
    if (credential && status === 403) this.#refused.add(`${operation.operationId} ${credential}`);
    const [presented] = credential ? [credential] : (JSON.stringify(call).match(SECRET) ?? []);
    const own = presented && this.organizationOf(presented);
    const isShown = status < 300 && body !== undefined;
    const organizationId = isShown ? this.learnIds(operation, body, own) : own;
    if (credential) this.addSecret(credential, organizationId);
    const cookies = headers.getSetCookie();
    for (const secret of [text, ...cookies].join("\n").match(SECRET) ?? []) {
      this.addSecret(secret, organizationId);
    }
    for (const cookie of cookies) this.#keepCookie(cookie);
    const location = headers.get("location");
    const links = [...(text.match(LINK) ?? []), ...(location ? [location] : [])];
    for (const link of links) this.addLink(link);
  }

  /** @param of The same ID in the copy of a template; undefined if it is not copied. */
  copy(of: (original: string) => string | undefined): Knowledge {
    const copy = new Knowledge();
    for (const [kind, sightings] of this.#seen) {
      for (const { value, organizationId } of sightings.values()) {
        const copied = of(value);
        if (copied) copy.add(kind, copied, organizationId && of(organizationId));
      }
    }
    return copy;
  }

  #keepCookie(text: string): void {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
    if (value === "") this.#cookies.delete(name);
    else if (!value.match(SECRET)) this.#cookies.set(name, value);
  }
}
