import type { StackEvent } from "@aws-sdk/client-cloudformation";
import type { Report } from "../../program/src/index.ts";
import { EventReader } from "./event-reader.ts";
import { NESTED_STACK, toResource } from "./resources.ts";
import type { StackApi } from "./stack-api.ts";
import { isInProgress } from "./stack-status.ts";

const DELETED = /^DELETE_/;
const FAILED = /_FAILED$/;
/** CloudFormation stops what else goes on when a resource has failed. */
const CANCELLED = /cancell?ed/i;

interface NestedStack {
  events: EventReader;
  /** Its ID in the report. */
  id: string;
  /** Whether its events have been read to their end. */
  isRead: boolean;
  hasEnded: boolean;
}

/** Reads what the execution of one change set does, and reports each resource as it changes. */
export class Execution {
  readonly #api: StackApi;
  readonly #report: Report;
  readonly #token: string;
  readonly #events: EventReader;
  /** By their ARNs. */
  readonly #nested = new Map<string, NestedStack>();
  /** The physical IDs of what the stack has now: what a replacement deletes has another. */
  readonly #current = new Map<string, string>();
  #begin: StackEvent | undefined;
  /** The first event that ends the operation. */
  end: StackEvent | undefined;
  /** Why the first resource has failed. */
  failure: string | undefined;

  constructor(api: StackApi, report: Report, stack: { stackId: string; token: string }) {
    this.#api = api;
    this.#report = report;
    this.#token = stack.token;
    this.#events = new EventReader(api, stack.stackId);
  }

  /** Before the change set is executed. */
  prepare(): Promise<void> {
    return this.#events.skip();
  }

  /** Returns whether there was anything new. */
  async look(): Promise<boolean> {
    const events = await this.#events.read();
    for (const event of events) {
      if (isOwn(event)) this.#applyOwn(event);
      // Before the execution begins, late events of an earlier one may arrive.
      else if (this.#begin && !this.end) this.#applyResource(event, "");
    }
    let count = events.length;
    // The loop also reaches those that it adds.
    for (const nested of this.#nested.values()) {
      if (!nested.isRead) count += await this.#lookInto(nested);
    }
    return count > 0;
  }

  #applyOwn(event: StackEvent): void {
    const { ResourceStatus: status, ClientRequestToken: token = this.#token } = event;
    const goesOn = isInProgress(status);
    if (!this.#begin && goesOn && token === this.#token) this.#begin = event;
    if (!this.#begin || this.end) return;
    print(event, event.LogicalResourceId ?? "");
    if (!goesOn) this.end = event;
  }

  #applyResource(event: StackEvent, parent: string): void {
    const { LogicalResourceId: logicalId = "", ResourceStatus: status = "" } = event;
    const { PhysicalResourceId: physicalId, ResourceStatusReason: reason = "" } = event;
    const resource = toResource(event, parent);
    const id = resource?.template_id ?? logicalId;
    print(event, id);
    if (FAILED.test(status) && !CANCELLED.test(reason)) {
      this.failure ??= `${id} (${event.ResourceType}) is ${status}: ${reason}`;
    }
    if (!DELETED.test(status) && physicalId) this.#current.set(id, physicalId);
    if (event.ResourceType === NESTED_STACK && physicalId) this.#follow(physicalId, id, status);
    const isReplaced = DELETED.test(status) && (this.#current.get(id) ?? physicalId) !== physicalId;
    if (resource && !isReplaced) this.#report.resource(resource);
  }

  #follow(stackId: string, id: string, status: string): void {
    const events =
      this.#nested.get(stackId)?.events ??
      new EventReader(this.#api, stackId, this.#begin?.Timestamp);
    const hasEnded = !status.endsWith("_IN_PROGRESS");
    this.#nested.set(stackId, { events, id, hasEnded, isRead: false });
  }

  async #lookInto(nested: NestedStack): Promise<number> {
    const found = await nested.events.read();
    nested.isRead = nested.hasEnded;
    for (const event of found) if (!isOwn(event)) this.#applyResource(event, nested.id);
    return found.length;
  }
}

/** Whether it is about the stack itself. */
function isOwn({ PhysicalResourceId, StackId }: StackEvent): boolean {
  return PhysicalResourceId === StackId;
}

function print(
  { ResourceStatus, ResourceType, ResourceStatusReason }: StackEvent,
  id: string,
): void {
  const reason = ResourceStatusReason ? `: ${ResourceStatusReason.replaceAll(/\s+/g, " ")}` : "";
  console.log(`${ResourceStatus} ${id} (${ResourceType})${reason}`);
}
