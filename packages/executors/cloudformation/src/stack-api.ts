import {
  CancelUpdateStackCommand,
  type Change,
  CloudFormationClient,
  CreateChangeSetCommand,
  type CreateChangeSetInput,
  DeleteChangeSetCommand,
  DeleteStackCommand,
  DescribeChangeSetCommand,
  type DescribeChangeSetOutput,
  DescribeStacksCommand,
  ExecuteChangeSetCommand,
  paginateDescribeChangeSet,
  paginateDescribeStackEvents,
  paginateListStackResources,
  type Stack,
  type StackEvent,
  type StackResourceSummary,
} from "@aws-sdk/client-cloudformation";
import { CLIENT_OPTIONS } from "./client-options.ts";
import type { AwsTarget } from "./credentials.ts";

/** The requests to CloudFormation. Each may be repeated: what is not found was deleted before. */
export class StackApi {
  readonly #client: CloudFormationClient;

  constructor(target: AwsTarget) {
    this.#client = new CloudFormationClient({ ...CLIENT_OPTIONS, ...target });
  }

  /** By its name or its ARN. Only an ARN finds a stack that is deleted. */
  async findStack(nameOrId: string): Promise<Stack | undefined> {
    try {
      const { Stacks = [] } = await this.#client.send(
        new DescribeStacksCommand({ StackName: nameOrId }),
      );
      return Stacks[0];
    } catch (error) {
      if (isError(error, "ValidationError") && /does not exist/.test(error.message)) return;
      throw error;
    }
  }

  async deleteStack(stackId: string, token: string): Promise<void> {
    await this.#client.send(
      new DeleteStackCommand({ StackName: stackId, ClientRequestToken: token }),
    );
  }

  /** Returns what identifies the change set; that of an earlier request, if its response was lost. */
  async createChangeSet(input: CreateChangeSetInput): Promise<string> {
    try {
      const { Id } = await this.#client.send(new CreateChangeSetCommand(input));
      return Id ?? String(input.ChangeSetName);
    } catch (error) {
      if (isError(error, "AlreadyExistsException")) return String(input.ChangeSetName);
      throw error;
    }
  }

  /** Without all of its changes, which `readChanges` reads. Undefined: it is deleted. */
  async findChangeSet(
    stackName: string,
    changeSet: string,
  ): Promise<DescribeChangeSetOutput | undefined> {
    try {
      return await this.#client.send(
        new DescribeChangeSetCommand({ StackName: stackName, ChangeSetName: changeSet }),
      );
    } catch (error) {
      if (isError(error, "ChangeSetNotFound")) return;
      throw error;
    }
  }

  async *readChanges(stackName: string, changeSet: string): AsyncGenerator<Change> {
    const input = { StackName: stackName, ChangeSetName: changeSet };
    for await (const page of paginateDescribeChangeSet({ client: this.#client }, input)) {
      yield* page.Changes ?? [];
    }
  }

  async executeChangeSet(stackName: string, changeSet: string, token: string): Promise<void> {
    await this.#client.send(
      new ExecuteChangeSetCommand({
        StackName: stackName,
        ChangeSetName: changeSet,
        ClientRequestToken: token,
      }),
    );
  }

  async deleteChangeSet(stackName: string, changeSet: string): Promise<void> {
    try {
      await this.#client.send(
        new DeleteChangeSetCommand({ StackName: stackName, ChangeSetName: changeSet }),
      );
    } catch (error) {
      if (!isError(error, "ChangeSetNotFound")) throw error;
    }
  }

  /** Newest first. */
  async *readEvents(stackId: string): AsyncGenerator<StackEvent> {
    const input = { StackName: stackId };
    for await (const page of paginateDescribeStackEvents({ client: this.#client }, input)) {
      yield* page.StackEvents ?? [];
    }
  }

  async *readResources(stackId: string): AsyncGenerator<StackResourceSummary> {
    const input = { StackName: stackId };
    for await (const page of paginateListStackResources({ client: this.#client }, input)) {
      yield* page.StackResourceSummaries ?? [];
    }
  }

  /** Whether CloudFormation rolls the update back. It does not if the update has ended. */
  async cancelUpdate(stackId: string, token: string): Promise<boolean> {
    try {
      await this.#client.send(
        new CancelUpdateStackCommand({ StackName: stackId, ClientRequestToken: token }),
      );
      return true;
    } catch (error) {
      if (isError(error, "ValidationError")) return false;
      throw error;
    }
  }
}

function isError(error: unknown, name: string): error is Error {
  return error instanceof Error && error.name.startsWith(name);
}
