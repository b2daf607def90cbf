import { type ChangeSetRequest, ChangeSets, findChanges, Refusal } from "./change-sets.ts";
import type { StandInStack, World } from "./stack.ts";
import { fill } from "./template.ts";
import type { XmlValue } from "./xml.ts";

const IN_PROGRESS = /_IN_PROGRESS$/;

/** The stacks of one account and region, and what CloudFormation answers of them. */
export class Account implements World {
  readonly accountId = "123456789012";
  readonly region = "eu-central-1";
  readonly stacks: StandInStack[] = [];
  readonly templates = new Map<string, string>();
  readonly changeSets = new ChangeSets(this);
  pageSize = 2;
  /** Steps of an operation for each request that reads. 0: nothing goes on. */
  stepsPerRead = 1;
  /** Whether an operation stops at a resource that is in progress. */
  stopsAtResources = false;
  /** Reads of stacks that still show the state before an execution. */
  staleReads = 0;
  #before: { status: string; id: string } | undefined;
  #time = Date.now();
  readonly #capabilities = new Map<string, string[]>();
  /** Where the pages of stacks are. */
  readonly #url: () => string;

  constructor(url: () => string) {
    this.#url = url;
  }

  now(): Date {
    this.#time += 1;
    return new Date(this.#time);
  }

  /** The stack of this name that is not deleted. */
  find(nameOrId: string): StandInStack {
    const found = this.stacks.find(({ name, id, status }) => {
      return id === nameOrId || (name === nameOrId && status !== "DELETE_COMPLETE");
    });
    if (found) return found;
    throw new Refusal("ValidationError", `Stack with id ${nameOrId} does not exist`);
  }

  /** Lets everything that goes on end. */
  finish(): void {
    for (const stack of this.stacks) while (stack.isBusy) stack.advance();
  }

  run(action: string, parameters: URLSearchParams): XmlValue {
    const get = (name: string) => parameters.get(name) ?? "";
    switch (action) {
      case "DescribeStacks":
        return { Stacks: [this.#describeStack(get("StackName"))] };
      case "CreateChangeSet":
        return this.#createChangeSet(parameters);
      case "DescribeChangeSet":
        return this.#describeChangeSet(parameters);
      case "ExecuteChangeSet":
        return this.#execute(parameters);
      case "DeleteChangeSet":
        this.changeSets.delete(this.changeSets.find(get("ChangeSetName"), get("StackName")));
        return {};
      case "DescribeStackEvents":
        return this.#describeEvents(parameters);
      case "ListStackResources":
        return this.#listResources(parameters);
      case "CancelUpdateStack":
        return this.#cancel(this.find(get("StackName")));
      case "DeleteStack":
        return this.#deleteStack(this.find(get("StackName")), get("ClientRequestToken"));
      default:
        throw new Refusal("InvalidAction", `Could not find operation ${action}`);
    }
  }

  #describeStack(nameOrId: string): XmlValue {
    const stack = this.#advance(nameOrId);
    const { outputs, parameters } = stack.template;
    const isStale = this.staleReads > 0 && this.#before?.id === stack.id;
    if (isStale) this.staleReads -= 1;
    const values = stack.target.parameters;
    return {
      StackId: stack.id,
      StackName: stack.name,
      StackStatus: isStale ? this.#before?.status : stack.status,
      StackStatusReason: stack.reason,
      CreationTime: new Date(0).toISOString(),
      Parameters: Object.entries(values).map(([name, value]) => ({
        ParameterKey: name,
        ParameterValue: parameters[name]?.isHidden ? "****" : value,
      })),
      Outputs: Object.entries(outputs).map(([name, value]) => ({
        OutputKey: name,
        OutputValue: value.startsWith("!GetAtt")
          ? `${this.#url()}/pages/${stack.name}`
          : fill(value, values),
      })),
    };
  }

  #createChangeSet(parameters: URLSearchParams): XmlValue {
    const get = (name: string) => parameters.get(name) ?? "";
    const templateBody = get("TemplateBody");
    if (Buffer.byteLength(templateBody) > 51_200) {
      throw new Refusal("ValidationError", "Member must have length less than or equal to 51200");
    }
    const request: ChangeSetRequest = {
      stackName: get("StackName"),
      name: get("ChangeSetName"),
      type: get("ChangeSetType"),
      token: get("ClientToken"),
      description: get("Description"),
      templateBody,
      parameters: Object.fromEntries(
        listOf(parameters, "Parameters", "ParameterKey").map((name, index) => [
          name,
          get(`Parameters.member.${index + 1}.ParameterValue`),
        ]),
      ),
      capabilities: listOf(parameters, "Capabilities"),
    };
    const changeSet = this.changeSets.create(request);
    this.#capabilities.set(changeSet.id, request.capabilities);
    return { Id: changeSet.id, StackId: changeSet.stack.id };
  }

  #describeChangeSet(parameters: URLSearchParams): XmlValue {
    const get = (name: string) => parameters.get(name) ?? "";
    const changeSet = this.changeSets.find(get("ChangeSetName"), get("StackName"));
    this.changeSets.advance(changeSet, this.#capabilities.get(changeSet.id) ?? []);
    const changes = changeSet.status === "CREATE_COMPLETE" ? findChanges(changeSet) : [];
    const { page, next } = this.#page(changes, get("NextToken"));
    return {
      ChangeSetId: changeSet.id,
      StackId: changeSet.stack.id,
      Status: changeSet.status,
      StatusReason: changeSet.reason,
      ExecutionStatus: changeSet.execution,
      Changes: page.map(({ action, logicalId, physicalId, type, replacement }) => ({
        Type: "Resource",
        ResourceChange: {
          Action: action,
          LogicalResourceId: logicalId,
          PhysicalResourceId: physicalId,
          ResourceType: type,
          Replacement: replacement,
        },
      })),
      NextToken: next,
    };
  }

  #execute(parameters: URLSearchParams): XmlValue {
    const get = (name: string) => parameters.get(name) ?? "";
    const changeSet = this.changeSets.find(get("ChangeSetName"), get("StackName"));
    this.#before = { id: changeSet.stack.id, status: changeSet.stack.status };
    this.changeSets.execute(changeSet, get("ClientRequestToken"));
    return {};
  }

  #describeEvents(parameters: URLSearchParams): XmlValue {
    const stack = this.#advance(parameters.get("StackName") ?? "");
    const token = parameters.get("NextToken");
    // A page goes on where the last one has ended, also if there are new events.
    const end = token ? Number(token) : stack.events.length;
    const start = Math.max(end - this.pageSize, 0);
    return {
      StackEvents: stack.events
        .slice(start, end)
        .toReversed()
        .map((event) => ({
          EventId: event.id,
          StackId: stack.id,
          StackName: stack.name,
          LogicalResourceId: event.logicalId,
          PhysicalResourceId: event.physicalId,
          ResourceType: event.type,
          ResourceStatus: event.status,
          ResourceStatusReason: event.reason,
          ClientRequestToken: event.token || undefined,
          Timestamp: event.time.toISOString(),
        })),
      NextToken: start > 0 ? String(start) : undefined,
    };
  }

  #listResources(parameters: URLSearchParams): XmlValue {
    const stack = this.find(parameters.get("StackName") ?? "");
    const { page, next } = this.#page([...stack.resources], parameters.get("NextToken"));
    return {
      StackResourceSummaries: page.map(([id, resource]) => ({
        LogicalResourceId: id,
        PhysicalResourceId: resource.physicalId || undefined,
        ResourceType: resource.type,
        ResourceStatus: resource.status,
        ResourceStatusReason: resource.reason,
        LastUpdatedTimestamp: resource.time.toISOString(),
      })),
      NextToken: next,
    };
  }

  #cancel(stack: StandInStack): XmlValue {
    if (stack.status !== "UPDATE_IN_PROGRESS") {
      const message = `CancelUpdateStack cannot be called from current stack status ${stack.status}`;
      throw new Refusal("ValidationError", message);
    }
    stack.isCanceled = true;
    return {};
  }

  #deleteStack(stack: StandInStack, token: string): XmlValue {
    if (!stack.isBusy && stack.status !== "DELETE_COMPLETE") stack.start(stack.delete(), token);
    return {};
  }

  #advance(nameOrId: string): StandInStack {
    const stack = this.find(nameOrId);
    for (const each of this.stacks) {
      for (let step = 0; step < this.stepsPerRead && each.isBusy; step += 1) {
        const isWorking = [...each.resources.values()].some(({ status }) =>
          IN_PROGRESS.test(status),
        );
        if (!this.stopsAtResources || !isWorking) each.advance();
      }
    }
    return stack;
  }

  #page<T>(items: readonly T[], token: string | null): { page: T[]; next: string | undefined } {
    const start = Number(token ?? 0);
    const end = start + this.pageSize;
    return {
      page: items.slice(start, end),
      next: end < items.length ? String(end) : undefined,
    };
  }
}

function listOf(parameters: URLSearchParams, name: string, key?: string): string[] {
  const found: string[] = [];
  for (;;) {
    const place = `${name}.member.${found.length + 1}${key ? `.${key}` : ""}`;
    const value = parameters.get(place);
    if (value === null) return found;
    found.push(value);
  }
}
