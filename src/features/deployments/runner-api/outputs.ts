import { LIMITS } from "../../../lib/limits.ts";
import { sizeOf } from "../../../lib/quantities.ts";
import { isSafeUrl } from "../../../lib/safe-url.ts";

export interface Output {
  name: string;
  value: string;
}

const URL_OUTPUT = "url";

export const INVALID_URL =
  "The output url was dropped: it is not an http or https URL without a user name and password.";

export const OUTPUTS_TOO_LARGE =
  `The outputs were not stored: those of an environment are at most ${sizeOf(LIMITS.outputBytesOfEnvironment.value)} ` +
  "together.";

/** Drops a `url` that people must not be sent to, because a failure would fail the deployment. */
export function checkOutputs(sent: readonly Output[]) {
  const isValid = ({ name, value }: Output) => name !== URL_OUTPUT || isSafeUrl(value);
  const outputs = Object.fromEntries(sent.filter(isValid).map(({ name, value }) => [name, value]));
  return { outputs, warnings: sent.every(isValid) ? [] : [INVALID_URL] };
}
