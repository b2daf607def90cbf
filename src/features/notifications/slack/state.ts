import { type Cipher, DecryptionError } from "../../../lib/cipher.ts";
import { BadInput } from "../../../lib/errors.ts";

/** So long somebody has to say yes at Slack. */
export const STATE_MS = 10 * 60 * 1000;

/** Who asked for an installation, and for which project. */
export interface State {
  /** Of the integration to come: whoever comes back with the state makes this one, and no other. */
  integrationId: string;
  projectId: string;
  keyId: string;
  expiresAt: number;
}

/** No other text is sealed for it, so that what opens here was sealed here. */
const STATE_CONTEXT = { table: "slack.state", row: "", organizationId: "" };

/** A state to send along to Slack and back: nobody else can read it, or make one. */
export async function sealState(cipher: Cipher, state: State): Promise<string> {
  const sealed = await cipher.seal(JSON.stringify(state), STATE_CONTEXT);
  return sealed.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Throws `BadInput` for one that is not ours, or too old. */
export async function openState(cipher: Cipher, text: string, now: number): Promise<State> {
  const dot = text.indexOf(".");
  const base64 = text.slice(dot).replaceAll("-", "+").replaceAll("_", "/");
  const json = await cipher
    .open(text.slice(0, dot) + base64, STATE_CONTEXT)
    .catch((error: unknown) => {
      if (error instanceof DecryptionError) return refuseState("It is not as it was given out.");
      throw error;
    });
  const state = JSON.parse(json) as State;
  if (state.expiresAt <= now) return refuseState("It is older than ten minutes.");
  return state;
}

export function refuseState(reason: string): never {
  throw new BadInput([{ path: "state", message: `${reason} Ask for the installation again.` }]);
}
