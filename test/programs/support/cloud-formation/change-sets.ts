import { StandInStack, type Target, type World } from "./stack.ts";
import { fill, readTemplate } from "./template.ts";

/** An answer of CloudFormation that is an error. */
export class Refusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface ChangeSet {
  id: string;
  name: string;
  token: string;
  description: string;
  type: string;
  stack: StandInStack;
  target: Target;
  status: string;
  reason: string | undefined;
  execution: string;
  /** Of the execution. */
  executionToken: string | undefined;
}

export interface Change {
  action: string;
  logicalId: string;
  physicalId: string | undefined;
  type: string;
  replacement: string | undefined;
}

const NO_CHANGES =
  "The submitted information didn't contain changes. Submit different information to create a change set.";
const UPDATABLE = /^(CREATE|UPDATE|UPDATE_ROLLBACK|IMPORT)_COMPLETE$/;

/** What the request of a change set has. */
export interface ChangeSetRequest {
  stackName: string;
  name: string;
  type: string;
  token: string;
  description: string;
  templateBody: string;
  parameters: Record<string, string>;
  capabilities: string[];
}

/** The change sets of an account. */
export class ChangeSets {
  readonly #world: World;
  readonly all: ChangeSet[] = [];
  /** Each that was accepted. */
  readonly executions: ChangeSet[] = [];
  /** Executions that were asked for while the stack was busy. */
  overlaps = 0;
  /** Whether a repeated creation is an error, as it is without a token. */
  refusesRepeats = false;

  constructor(world: World) {
    this.#world = world;
  }

  create(request: ChangeSetRequest): ChangeSet {
    const existing = this.all.find(({ name, stack }) => {
      return name === request.name && stack.name === request.stackName;
    });
    if (existing?.token === request.token && !this.refusesRepeats) return existing;
    if (existing) throw new Refusal("AlreadyExistsException", `${request.name} already exists`);
    const stack = this.#findStack(request);
    const target = { templateBody: request.templateBody, parameters: request.parameters };
    const changeSet: ChangeSet = {
      ...request,
      id: stack.id.replace(":stack/", ":changeSet/").replace(request.stackName, request.name),
      stack,
      target: { ...target, parameters: complete(target) },
      status: "CREATE_PENDING",
      reason: undefined,
      execution: "UNAVAILABLE",
      executionToken: undefined,
    };
    this.all.push(changeSet);
    return changeSet;
  }

  find(idOrName: string, stackName: string): ChangeSet {
    const found = this.all.find(({ id, name, stack }) => {
      return id === idOrName || (name === idOrName && [stack.name, stack.id].includes(stackName));
    });
    if (found) return found;
    throw new Refusal("ChangeSetNotFound", `ChangeSet [${idOrName}] does not exist`);
  }

  /** One step of its creation. */
  advance(changeSet: ChangeSet, capabilities: string[]): void {
    if (changeSet.status === "CREATE_PENDING") {
      changeSet.status = "CREATE_IN_PROGRESS";
    } else if (changeSet.status === "CREATE_IN_PROGRESS") {
      const problem = findProblem(changeSet, capabilities);
      changeSet.status = problem === undefined ? "CREATE_COMPLETE" : "FAILED";
      changeSet.reason = problem;
      if (problem === undefined) changeSet.execution = "AVAILABLE";
    }
  }

  execute(changeSet: ChangeSet, token: string): void {
    const { stack, target, type } = changeSet;
    if (changeSet.executionToken === token) return;
    if (stack.isBusy) this.overlaps += 1;
    if (stack.isBusy || changeSet.execution !== "AVAILABLE") {
      const message = `ChangeSet [${changeSet.id}] cannot be executed in its current status`;
      throw new Refusal("InvalidChangeSetStatus", message);
    }
    Object.assign(changeSet, { execution: "EXECUTE_IN_PROGRESS", executionToken: token });
    this.executions.push(changeSet);
    stack.start(
      run(changeSet, type === "CREATE" ? stack.create(target) : stack.update(target)),
      token,
    );
    const others = this.all.filter(
      (each) => each.stack === stack && each.executionToken === undefined,
    );
    for (const each of others) this.delete(each);
  }

  delete(changeSet: ChangeSet): void {
    if (changeSet.execution.startsWith("EXECUTE_")) {
      throw new Refusal("InvalidChangeSetStatus", "It was executed");
    }
    this.all.splice(this.all.indexOf(changeSet), 1);
  }

  #findStack({ stackName, type, name }: ChangeSetRequest): StandInStack {
    const stack = this.#world.stacks.find((each) => {
      return each.name === stackName && each.status !== "DELETE_COMPLETE";
    });
    if (type === "CREATE") {
      if (!stack || stack.status === "REVIEW_IN_PROGRESS") {
        return stack ?? new StandInStack(this.#world, stackName);
      }
      const message = `Stack [${stackName}] already exists and cannot be created again with the changeSet [${name}].`;
      throw new Refusal("ValidationError", message);
    }
    if (!stack) throw new Refusal("ValidationError", `Stack [${stackName}] does not exist`);
    if (UPDATABLE.test(stack.status)) return stack;
    const message = `Stack:${stack.id} is in ${stack.status} state and can not be updated.`;
    throw new Refusal("ValidationError", message);
  }
}

function* run(changeSet: ChangeSet, steps: Generator<undefined, boolean>) {
  const isDone = yield* steps;
  changeSet.execution = isDone ? "EXECUTE_COMPLETE" : "EXECUTE_FAILED";
}

/** With the defaults of the template. */
function complete({ templateBody, parameters }: Target): Record<string, string> {
  const { parameters: declared, resources } = readTarget(templateBody);
  const unknown = Object.keys(parameters).filter((name) => !Object.hasOwn(declared, name));
  if (unknown.length > 0) {
    const message = `Parameters: [${unknown.join(", ")}] do not exist in the template`;
    throw new Refusal("ValidationError", message);
  }
  if (Object.keys(resources).length === 0) {
    const message = "Template format error: At least one Resources member must be defined.";
    throw new Refusal("ValidationError", message);
  }
  const values = Object.entries(declared).flatMap(([name, { default: value }]) => {
    const found = parameters[name] ?? value;
    return found === undefined ? [] : [[name, found]];
  });
  const missing = Object.keys(declared).filter(
    (name) => parameters[name] === undefined && declared[name]?.default === undefined,
  );
  if (missing.length === 0) return Object.fromEntries(values);
  throw new Refusal("ValidationError", `Parameters: [${missing.join(", ")}] must have values`);
}

function readTarget(templateBody: string) {
  try {
    return readTemplate(templateBody);
  } catch {
    throw new Refusal("ValidationError", "Template format error: JSON not well-formed.");
  }
}

function findProblem(changeSet: ChangeSet, capabilities: string[]): string | undefined {
  if (
    /AWS::IAM::/.test(changeSet.target.templateBody) &&
    !capabilities.includes("CAPABILITY_IAM")
  ) {
    return "Requires capabilities : [CAPABILITY_IAM]";
  }
  return findChanges(changeSet).length === 0 ? NO_CHANGES : undefined;
}

export function findChanges({ stack, target }: ChangeSet): Change[] {
  const { resources } = readTarget(target.templateBody);
  const kept = Object.entries(resources).flatMap(([logicalId, { type, body }]) => {
    const existing = stack.resources.get(logicalId);
    const filled = fill(body, target.parameters);
    if (existing?.body === filled) return [];
    const action = existing ? "Modify" : "Add";
    const replacement = existing && (/"Replaces":/.test(filled) ? "True" : "False");
    return [{ action, logicalId, physicalId: existing?.physicalId, type, replacement }];
  });
  const removed = [...stack.resources].flatMap(([logicalId, { type, physicalId }]) =>
    Object.hasOwn(resources, logicalId)
      ? []
      : [{ action: "Remove", logicalId, physicalId, type, replacement: undefined }],
  );
  return [...kept, ...removed];
}
