import {
  findValue,
  type ReferenceValues,
} from "../../../../packages/runner/src/executors/interpolation.ts";
import { listTexts } from "../../../../packages/runner/src/executors/needs.ts";
import {
  isKnown,
  OUTPUTS_PREFIX,
  PART,
  splitOutput,
} from "../../../../packages/runner/src/executors/references.ts";
import { escapeToken, getChild } from "../../../lib/json-pointer.ts";
import { isObject } from "../../../lib/json-value.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { Document } from "./patch.ts";

export interface ReferencedStack {
  id: string;
  name: string;
  componentId: string | null;
  /** JSON: those of its last success. */
  outputs: string;
}

export interface VariableName {
  name: string;
  componentId: string | null;
}

export interface ReferenceInput {
  /** As the deployment makes it. */
  configuration: Document;
  /** JSON. */
  source: string | null | undefined;
  environment: { id: string; name: string };
  /** All of the environment. */
  stacks: readonly ReferencedStack[];
  /** Those to deploy. */
  ids: readonly string[];
  /** Undefined: the caller may not read them. */
  variables: readonly VariableName[] | undefined;
}

/** A reference in the settings of an executor, as it would be resolved now. */
export interface ReferencePreview {
  stackId: string;
  /** Where it is in the configuration. */
  pointer: string;
  /** As it is written. */
  reference: string;
  /** Undefined: it has none yet, or it is a variable's. */
  value?: string | undefined;
  /** Why it has no value, or why the value may be another one when the deployment runs. */
  note?: string | undefined;
}

/** The first references of the stacks to deploy that have an executor, in the order of the deployment. */
export function previewReferences(input: ReferenceInput): ReferencePreview[] {
  const { configuration, ids, stacks, source, environment } = input;
  const withOutputs = stacks.map((stack) => ({
    ...stack,
    outputs: JSON.parse(stack.outputs) as Record<string, string>,
  }));
  const known = {
    source: source ? JSON.parse(source) : undefined,
    environment,
    stacks: withOutputs,
  };
  // Each costs a look at all stacks, and a configuration may have thousands.
  const found = ids
    .flatMap((id) => withOutputs.find((stack) => stack.id === id) ?? [])
    .flatMap((stack) =>
      findReferences(configuration, stack.name).map((reference) => ({ stack, ...reference })),
    )
    .slice(0, LIMITS.previewedReferences.value);
  return found.map(({ stack, name, ...each }) => {
    const values: ReferenceValues = { ...known, stack, variables: [] };
    return { stackId: stack.id, ...each, ...resolve(name, values, { ...input, own: stack }) };
  });
}

function findReferences(configuration: Document, stack: string) {
  const stacks = getChild(configuration, "stacks");
  if (!isObject(stacks)) return [];
  const [key, values] = Object.entries(stacks).find(([name]) => name.normalize() === stack) ?? [];
  if (key === undefined || typeof getChild(values, "executor") !== "string") return [];
  return listTexts(`/stacks/${escapeToken(key)}`, values).flatMap(({ pointer, text }) =>
    [...text.matchAll(PART)].flatMap(([reference, name, end]) =>
      name !== undefined && isKnown(name, end) ? [{ pointer, reference, name }] : [],
    ),
  );
}

type Resolving = ReferenceInput & { own: Omit<ReferencedStack, "outputs"> };

function resolve(name: string, values: ReferenceValues, input: Resolving) {
  if (name.startsWith("variables.")) return { note: describeVariable(name, input) };
  const value = findValue(name, values);
  if (!name.startsWith(OUTPUTS_PREFIX)) {
    return value === undefined ? { note: "The source has no such value." } : { value };
  }
  const path = name.slice(OUTPUTS_PREFIX.length);
  return { value, note: describeOutput(path, value, input) };
}

function describeOutput(
  path: string,
  value: string | undefined,
  { stacks, ids }: Resolving,
): string | undefined {
  const found = splitOutput(path, new Set(stacks.map(({ name }) => name)));
  const stack = found && stacks.find(({ name }) => name === found.stack);
  if (!stack) return "The environment has no such stack.";
  const name = JSON.stringify(stack.name);
  if (ids.includes(stack.id)) {
    return value === undefined
      ? `${name} has no such output yet. This deployment runs ${name} first.`
      : `From the last success of ${name}. This deployment runs ${name} again first.`;
  }
  return value === undefined ? `${name} has no such output, and is not deployed.` : undefined;
}

function describeVariable(reference: string, { variables, own }: Resolving): string {
  const wanted = reference.slice(reference.indexOf(".") + 1);
  const isIts = ({ name, componentId }: VariableName) =>
    name === wanted && (componentId === null || componentId === own.componentId);
  return !variables || variables.some(isIts)
    ? "The runner gets the variable when it starts."
    : "Neither the environment nor the stack's component has this variable.";
}
