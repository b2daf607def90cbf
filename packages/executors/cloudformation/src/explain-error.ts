import { ProgramError } from "../../program/src/index.ts";

/** What an error of the SDK says to people. A bug stays as it is. */
export function explainError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ProgramError) return error;
  if (error.name === "CredentialsProviderError") {
    return new ProgramError(
      "The runner has no credentials for AWS. Start it with --pass-env AWS_ACCESS_KEY_ID and --pass-env " +
        "AWS_SECRET_ACCESS_KEY, in an environment that has both, or with a role of its machine.",
    );
  }
  if ("$fault" in error) return new ProgramError(`AWS refuses: ${error.name}: ${error.message}`);
  const code = "code" in error ? String(error.code) : "";
  const hasNoResponse = code !== "" || error.name === "TimeoutError";
  if (!hasNoResponse) return error;
  return new ProgramError(`AWS does not answer: ${code || error.message}.`);
}
