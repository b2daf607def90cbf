import { signal } from "@preact/signals";
import { ApiError, client, type Schemas } from "./api.ts";
import { clearQueries } from "./query-cache.ts";

export type Who = Schemas["WhoAmI"];

/** Undefined while it is being read; null without a session. */
export const who = signal<Who | null | undefined>(undefined);

/** Why the session could not be read, except that there is none. */
export const sessionError = signal<unknown>(undefined);

export async function readSession(): Promise<void> {
  try {
    who.value = await client.get("/v1/whoami");
    sessionError.value = undefined;
  } catch (error) {
    if (isSignedOut(error)) who.value = null;
    else sessionError.value = error;
  }
}

/** A session may end at any request. The sign-in page then has the current page's URL to return to. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.code === "unauthenticated";
}

export function endSession(): void {
  clearQueries();
  who.value = null;
}

export async function signIn(apiKey: string): Promise<void> {
  await client.post("/v1/sessions", { body: { api_key: apiKey } });
  clearQueries();
  await readSession();
}

export async function signOut(): Promise<void> {
  await client.delete("/v1/sessions/current");
  endSession();
}

export async function switchOrganization(id: string): Promise<void> {
  await client.put("/v1/sessions/current/organizations/{org_id}", { path: { org_id: id } });
  clearQueries();
  await readSession();
}

/** Pages need a session, and the app shows them only with one. */
export function currentWho(): Who {
  if (!who.value) throw new Error("There is no session.");
  return who.value;
}
