import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { COUNTED, NAME_TAKEN, RESOURCE_ID_TAKEN, VARIABLES_CHANGING } from "./model.ts";
import { RevealedVariableList, Variable, VariableList, VariableValue } from "./responses.ts";

const TAGS = ["Variables"];

const AFTER = "The variables after the change.";
const REVEALED = "The variables, with their values.";

const TAKEN = "A name that is taken is a `conflict`.";

const ATOMIC =
  `Writes up to ${LIMITS.writtenVariables.value} variables, all or none, as one request of the rate limit. The error for an ` +
  `invalid one names its index. Returns the first ${LIMITS.pageItems.value} variables after the change.`;

const VALUE_BYTES = new LimitReached(LIMITS.variableBytesOfEnvironment.value, COUNTED.bytes);

const CREATION_ERRORS = {
  variable_name_taken: NAME_TAKEN,
  resource_id_taken: RESOURCE_ID_TAKEN,
  variable_limit: new LimitReached(QUOTAS.variables, "variables"),
  environment_variable_limit: new LimitReached(
    LIMITS.variablesOfEnvironment.value,
    COUNTED.variables,
  ),
  value_bytes_limit: VALUE_BYTES,
};

const BULK_ERRORS = {
  ...CREATION_ERRORS,
  variables_changing: VARIABLES_CHANGING,
};

const operations = {
  getVariable: {
    tags: ["Variables"],
    summary: "Read a variable",
    role: "viewer",
    description: `The value has a separate path.`,
    notFound: ["variable"],
    responses: { 200: jsonReply(Variable(), "The variable.") },
  },
  replaceVariable: {
    tags: ["Variables"],
    summary: "Replace a variable",
    role: "contributor",
    changes: ["variables"],
    description: `Increases the version by one, and keeps the \`resource_id\`.`,
    notFound: ["variable"],
    errors: {
      variable_name_taken: NAME_TAKEN,
      resource_id_taken: RESOURCE_ID_TAKEN,
      value_bytes_limit: VALUE_BYTES,
    },
    responses: { 200: jsonReply(Variable(), "The variable.") },
  },
  deleteVariable: {
    tags: ["Variables"],
    summary: "Delete a variable",
    role: "contributor",
    changes: ["variables"],
    notFound: ["variable"],
    responses: { 204: NO_CONTENT },
  },
  revealVariable: {
    tags: ["Variables"],
    summary: "Reveal the value of a variable",
    role: "contributor",
    description: `The audit log records every read of a value.`,
    notFound: ["variable"],
    responses: { 200: jsonReply(VariableValue(), "The decrypted value.") },
  },
  listComponentVariables: {
    tags: TAGS,
    summary: "List the variables of a component",
    role: "viewer",
    description: `Does not include the variables of its environment.`,
    notFound: ["component"],
    responses: { 200: jsonReply(VariableList(), "A page of variables.") },
  },
  createComponentVariable: {
    tags: TAGS,
    summary: "Create a variable of a component",
    role: "contributor",
    changes: ["variables"],
    description: `${TAKEN}`,
    notFound: ["component"],
    errors: CREATION_ERRORS,
    responses: { 201: jsonReply(Variable(), "The variable.") },
  },
  putComponentVariables: {
    tags: TAGS,
    summary: "Write many variables of a component",
    role: "contributor",
    changes: ["variables"],
    description: `${ATOMIC}`,
    notFound: ["component"],
    errors: BULK_ERRORS,
    responses: { 200: jsonReply(VariableList(), AFTER) },
  },
  revealComponentVariables: {
    tags: TAGS,
    summary: "Reveal the values of the variables of a component",
    role: "contributor",
    description:
      "Returns all of them on one page, sorted by name, without those of its environment. One entry of the " +
      "audit log names them.",
    notFound: ["component"],
    responses: { 200: jsonReply(RevealedVariableList(), REVEALED) },
  },
  listEnvironmentVariables: {
    tags: TAGS,
    summary: "List the variables of an environment",
    role: "viewer",
    description: `Does not include the variables of its components.`,
    notFound: ["environment"],
    responses: { 200: jsonReply(VariableList(), "A page of variables.") },
  },
  createEnvironmentVariable: {
    tags: TAGS,
    summary: "Create a variable of an environment",
    role: "contributor",
    changes: ["variables"],
    description: `${TAKEN}`,
    notFound: ["environment"],
    errors: CREATION_ERRORS,
    responses: { 201: jsonReply(Variable(), "The variable.") },
  },
  putEnvironmentVariables: {
    tags: TAGS,
    summary: "Write many variables of an environment",
    role: "contributor",
    changes: ["variables"],
    description: `${ATOMIC}`,
    notFound: ["environment"],
    errors: BULK_ERRORS,
    responses: { 200: jsonReply(VariableList(), AFTER) },
  },
  revealEnvironmentVariables: {
    tags: TAGS,
    summary: "Reveal the values of the variables of an environment",
    role: "contributor",
    description:
      "Returns all of them on one page, sorted by name, without those of its components. One entry of the " +
      "audit log names them.",
    notFound: ["environment"],
    responses: { 200: jsonReply(RevealedVariableList(), REVEALED) },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  {
    name: "Variables",
    description: "Encrypted values for components and environments.",
  },
];

export const document: FeatureDocument = { tags, operations };
