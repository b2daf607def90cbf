import { fill, readTemplate, type Template } from "./template.ts";

export interface Resource {
  type: string;
  physicalId: string;
  status: string;
  reason: string | undefined;
  /** With the values of parameters. */
  body: string;
  time: Date;
}

export interface Event {
  id: string;
  logicalId: string;
  physicalId: string;
  type: string;
  status: string;
  reason: string | undefined;
  token: string;
  time: Date;
}

/** What a stack is to become. */
export interface Target {
  templateBody: string;
  parameters: Record<string, string>;
}

/** The steps of an operation: a step ends at each `yield`. */
export type Steps<T = void> = Generator<undefined, T>;

const STACK_TYPE = "AWS::CloudFormation::Stack";

/** Each change of a resource is one step. A resource whose body has `"Fails":"create"` fails to be created, and so on. */
export class StandInStack {
  readonly id: string;
  status = "REVIEW_IN_PROGRESS";
  reason: string | undefined;
  target: Target = { templateBody: "{}", parameters: {} };
  readonly resources = new Map<string, Resource>();
  readonly events: Event[] = [];
  /** What goes on. */
  operation: Steps | undefined;
  isCanceled = false;
  #token = "";
  #nextId = 1;
  readonly name: string;
  readonly #world: World;

  constructor(world: World, name: string) {
    this.#world = world;
    this.name = name;
    const id = String(world.stacks.length + 1).padStart(8, "0");
    this.id = `arn:aws:cloudformation:${world.region}:${world.accountId}:stack/${name}/${id}`;
    world.stacks.push(this);
  }

  get template(): Template {
    return readTemplate(this.target.templateBody);
  }

  get isBusy(): boolean {
    return this.operation !== undefined;
  }

  start(steps: Steps, token: string): void {
    this.#token = token;
    this.operation = steps;
  }

  advance(): void {
    if (this.operation?.next().done) this.operation = undefined;
  }

  emit(logicalId: string, status: string, reason?: string, physicalId?: string): void {
    const resource = this.resources.get(logicalId);
    const isOwn = resource === undefined;
    const time = this.#world.now();
    if (isOwn) {
      this.status = status;
      this.reason = reason;
    } else if (physicalId === undefined) Object.assign(resource, { status, reason, time });
    this.events.push({
      id: `${this.name}-${this.events.length}`,
      logicalId: isOwn ? this.name : logicalId,
      physicalId: isOwn ? this.id : (physicalId ?? resource.physicalId),
      type: isOwn ? STACK_TYPE : resource.type,
      status,
      reason,
      token: this.#token,
      time,
    });
  }

  *create(target: Target): Steps<boolean> {
    this.target = target;
    this.emit("", "CREATE_IN_PROGRESS", "User Initiated");
    yield;
    for (const id of Object.keys(this.template.resources)) {
      if (yield* this.#add(id)) continue;
      this.emit("", "ROLLBACK_IN_PROGRESS", `The following resource(s) failed to create: [${id}].`);
      yield;
      for (const each of [...this.resources.keys()].toReversed()) yield* this.#remove(each);
      this.emit("", "ROLLBACK_COMPLETE");
      return false;
    }
    this.emit("", "CREATE_COMPLETE");
    return true;
  }

  *update(target: Target): Steps<boolean> {
    const before = this.target;
    const kept = new Map([...this.resources].map(([id, resource]) => [id, { ...resource }]));
    this.target = target;
    this.emit("", "UPDATE_IN_PROGRESS", "User Initiated");
    yield;
    const old: [string, string][] = [];
    for (const id of Object.keys(this.template.resources)) {
      const physicalId = this.resources.get(id)?.physicalId;
      const isDone = physicalId === undefined ? yield* this.#add(id) : yield* this.#change(id);
      if (!isDone || this.isCanceled) return yield* this.#rollBack(before, kept);
      const isReplaced =
        physicalId !== undefined && this.resources.get(id)?.physicalId !== physicalId;
      if (isReplaced) old.push([id, physicalId]);
    }
    this.emit("", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS");
    yield;
    for (const [id, physicalId] of old) {
      for (const each of ["DELETE_IN_PROGRESS", "DELETE_COMPLETE"]) {
        this.emit(id, each, undefined, physicalId);
        yield;
      }
    }
    yield* this.#removeOthers();
    this.emit("", "UPDATE_COMPLETE");
    return true;
  }

  *delete(): Steps {
    this.emit("", "DELETE_IN_PROGRESS", "User Initiated");
    yield;
    for (const id of [...this.resources.keys()]) yield* this.#remove(id);
    this.emit("", "DELETE_COMPLETE");
  }

  *#rollBack(before: Target, kept: ReadonlyMap<string, Resource>): Steps<boolean> {
    this.emit("", "UPDATE_ROLLBACK_IN_PROGRESS", this.isCanceled ? "User Initiated" : undefined);
    this.isCanceled = false;
    this.target = before;
    yield;
    for (const [id, resource] of kept) {
      const now = this.resources.get(id);
      if (!now || now.body === resource.body) continue;
      this.emit(id, "UPDATE_IN_PROGRESS");
      yield;
      if (/"Fails":"rollback"/.test(now.body)) {
        this.emit(id, "UPDATE_FAILED", "The earlier state cannot be restored");
        this.emit("", "UPDATE_ROLLBACK_FAILED", `The following resource(s) failed: [${id}].`);
        return false;
      }
      Object.assign(now, { body: resource.body, physicalId: resource.physicalId });
      this.emit(id, "UPDATE_COMPLETE");
      yield;
    }
    this.emit("", "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS");
    yield;
    yield* this.#removeOthers();
    this.emit("", "UPDATE_ROLLBACK_COMPLETE");
    return false;
  }

  *#add(id: string): Steps<boolean> {
    const { type = "", body = "" } = this.template.resources[id] ?? {};
    const filled = fill(body, this.target.parameters);
    const base = { physicalId: "", status: "", reason: undefined, time: this.#world.now() };
    this.resources.set(id, { ...base, type, body: filled });
    this.emit(id, "CREATE_IN_PROGRESS");
    yield;
    const resource = this.resources.get(id);
    const nested = type === STACK_TYPE ? this.#nest(id) : undefined;
    if (resource) resource.physicalId = nested?.id ?? this.#newId(id);
    this.emit(id, "CREATE_IN_PROGRESS", "Resource creation Initiated");
    yield;
    const isDone = nested ? yield* nested.create(this.#targetOf(filled)) : true;
    if (!isDone || /"Fails":"create"/.test(filled)) {
      this.emit(id, "CREATE_FAILED", `Not allowed: ${id} <&> "it"`);
      return false;
    }
    this.emit(id, "CREATE_COMPLETE");
    yield;
    return true;
  }

  *#change(id: string): Steps<boolean> {
    const resource = this.resources.get(id);
    const body = fill(this.template.resources[id]?.body ?? "", this.target.parameters);
    if (!resource || resource.body === body) return true;
    resource.body = body;
    this.emit(id, "UPDATE_IN_PROGRESS");
    yield;
    if (/"Replaces":/.test(body)) {
      resource.physicalId = this.#newId(id);
      this.emit(id, "UPDATE_IN_PROGRESS", "Resource creation Initiated");
      yield;
    }
    const nested = this.#world.stacks.find((each) => each.id === resource.physicalId);
    if (nested) nested.#token = this.#token;
    const isDone = nested ? yield* nested.update(this.#targetOf(body)) : true;
    if (!isDone || /"Fails":"(update|rollback)"/.test(body)) {
      this.emit(id, "UPDATE_FAILED", `Not allowed: ${id}`);
      return false;
    }
    this.emit(id, "UPDATE_COMPLETE");
    yield;
    return true;
  }

  *#removeOthers(): Steps {
    const { resources } = this.template;
    for (const id of [...this.resources.keys()]) {
      if (!Object.hasOwn(resources, id)) yield* this.#remove(id);
    }
  }

  *#remove(id: string): Steps {
    const { physicalId } = this.resources.get(id) ?? {};
    this.emit(id, "DELETE_IN_PROGRESS");
    yield;
    const nested = this.#world.stacks.find((each) => each.id === physicalId);
    if (nested) yield* nested.delete();
    this.emit(id, "DELETE_COMPLETE");
    this.resources.delete(id);
    yield;
  }

  #nest(id: string): StandInStack {
    const nested = new StandInStack(this.#world, `${this.name}-${id}`);
    nested.#token = this.#token;
    return nested;
  }

  #targetOf(body: string): Target {
    const url = /"TemplateURL":"([^"]*)"/.exec(body)?.[1] ?? "";
    return { templateBody: this.#world.templates.get(url) ?? "{}", parameters: {} };
  }

  #newId(id: string): string {
    this.#nextId += 1;
    return `${this.name}-${id}-${this.#nextId}`;
  }
}

/** What all stacks of an account share. */
export interface World {
  accountId: string;
  region: string;
  stacks: StandInStack[];
  /** Of nested stacks, by their URLs. */
  templates: Map<string, string>;
  now(): Date;
}
