import { type Operation, operations } from "./contract.ts";

export const accepting = (credential: string) =>
  operations.filter(({ security }) => security.some((each) => credential in each));
/** The runner API: operations that accept a runner token and no API key. */
export const runnerOperations = accepting("runner_token").filter(
  (each) => !accepting("api_key").includes(each),
);
export const authenticatedOperations = [...accepting("session"), ...runnerOperations];
export const title = ({ method, path }: Operation) => `${method} ${path}`;
