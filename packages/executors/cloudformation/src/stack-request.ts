import { readFileSync } from "node:fs";
import type { CreateChangeSetInput } from "@aws-sdk/client-cloudformation";
import type { StackInput } from "../../../runner/src/stack-input.ts";
import { ProgramError } from "../../program/src/index.ts";
import { type CloudFormationSettings, STACK_NAME } from "./settings.ts";

/** Of CloudFormation, for a template that is not in a bucket. */
export const MAXIMUM_TEMPLATE_BYTES = 51_200;
const MAXIMUM_DESCRIPTION_LENGTH = 1_024;

/** What a deployment asks for. */
export interface StackRequest {
  stackName: string;
  /** The name of the change set, and of all requests: a run finds what it has begun, and nothing of another. */
  token: string;
  changeSet: CreateChangeSetInput;
}

/** Throws a `ProgramError` for what CloudFormation would not accept from anybody. */
export function readRequest(input: StackInput, settings: CloudFormationSettings): StackRequest {
  const { template = "", parameters = {}, capabilities = [], tags = {}, role } = settings;
  const stackName = nameStack(input, settings);
  const token = `longshore-${toWord(input.deployment.id)}-${toWord(input.stack.id)}`;
  const changeSet: CreateChangeSetInput = {
    StackName: stackName,
    ChangeSetName: token,
    ClientToken: token,
    Description: describe(input),
    TemplateBody: readTemplate(template),
    Parameters: Object.entries(parameters).map(([ParameterKey, ParameterValue]) => ({
      ParameterKey,
      ParameterValue,
    })),
    Capabilities: capabilities.map((each) => each as CapabilityName),
    Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
    ...(role !== undefined && { RoleARN: role }),
  };
  return { stackName, token, changeSet };
}

type CapabilityName = NonNullable<CreateChangeSetInput["Capabilities"]>[number];

/** From IDs alone: another name would be another stack, and names of people change. */
function nameStack({ stack }: StackInput, { stack_name }: CloudFormationSettings): string {
  const name = stack_name ?? `longshore-${toWord(stack.id)}`;
  if (STACK_NAME.pattern.test(name)) return name;
  throw new ProgramError(`The setting stack_name must be ${STACK_NAME.description}.`);
}

function toWord(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9]+/g, "-");
}

function describe({ deployment, project, environment, stack }: StackInput): string {
  const place = [project, environment, stack].map(({ name }) => name).join(" / ");
  const text = `Deployment ${deployment.id} of ${place}`;
  return text.slice(0, MAXIMUM_DESCRIPTION_LENGTH).toWellFormed();
}

function readTemplate(path: string): string {
  const bytes = readFileSync(path);
  if (bytes.length > MAXIMUM_TEMPLATE_BYTES) {
    const [size, maximum] = [bytes.length, MAXIMUM_TEMPLATE_BYTES].map((each) =>
      each.toLocaleString("en-US"),
    );
    throw new ProgramError(
      `The template has ${size} bytes, and CloudFormation accepts ${maximum}. Remove its comments, write it as JSON ` +
        "without spaces, or divide it into stacks: later ones use outputs of earlier ones.",
    );
  }
  return bytes.toString("utf8").replace(/^\uFEFF/, "");
}
