interface Resource {
  addr: string;
  resource_type: string;
}

export interface Hook {
  resource: Resource;
  /** Absent in the messages of provisioners. */
  action?: string;
  id_key?: string;
  id_value?: string;
}

export interface Diagnostic {
  severity: string;
  summary: string;
  detail: string;
  /** Of the resource that it is about. */
  address?: string;
}

/** A line of `apply -json`, as https://developer.hashicorp.com/terraform/internals/machine-readable-ui has it. */
export interface Message {
  type: string;
  "@message": string;
  change?: { resource: Resource; action: string };
  hook?: Hook;
  diagnostic?: Diagnostic;
}

/** Undefined: it is no message, but a text of a plugin or a wrapper. */
export function parseMessage(line: string): Message | undefined {
  try {
    const message = JSON.parse(line);
    return typeof message?.type === "string" ? message : undefined;
  } catch {
    return undefined;
  }
}
