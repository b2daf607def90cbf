import { type Cipher, DecryptionError } from "../../../lib/cipher.ts";
import { BadInput } from "../../../lib/errors.ts";

export const STATE_TTL_MS = 10 * 60 * 1000;

export interface State {
  /** The integration to create, so that a state creates only one. */
  integrationId: string;
  projectId: string;
  keyId: string;
  expiresAt: number;
}

/** Used for states only: a text that decrypts in this context is a state of this deployment. */
const STATE_CONTEXT = { table: "slack.state", row: "", organizationId: "", owners: [] };

export async function sealState(cipher: Cipher, state: State): Promise<string> {
  const sealed = await cipher.seal(JSON.stringify(state), STATE_CONTEXT);
  return sealed.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Throws `BadInput` for a state that was not issued here, or has expired. */
export async function openState(cipher: Cipher, text: string, now: number): Promise<State> {
  const dot = text.indexOf(".");
  const base64 = text.slice(dot).replaceAll("-", "+").replaceAll("_", "/");
  const json = await cipher
    .open(text.slice(0, dot) + base64, STATE_CONTEXT)
    .catch((error: unknown) => {
      if (error instanceof DecryptionError)
        return refuseState("It was altered, or not issued here.");
      throw error;
    });
  const state = JSON.parse(json) as State;
  if (state.expiresAt <= now) return refuseState("It is older than ten minutes.");
  return state;
}

export function refuseState(reason: string): never {
  throw new BadInput([{ path: "state", message: `${reason} Ask for the installation again.` }]);
}
