import { describe, expect, it } from "vitest";
import type { KubernetesObject } from "../../../packages/executors/kubernetes/src/objects.ts";
import { isRolledOut, readState } from "../../../packages/executors/kubernetes/src/states.ts";

describe("the state of an object", () => {
  const of = (kind: string, rest: object): KubernetesObject => {
    const [apiVersion = "", name = ""] = kind.includes(" ") ? kind.split(" ") : ["v1", kind];
    return { apiVersion, kind: name, metadata: { name: "x" }, ...rest };
  };
  const condition = (type: string, status = "True", message = "") => ({
    status: { conditions: [{ type, status, message }] },
  });
  const counts = (spec: object, status: object) => ({
    metadata: { name: "x", generation: 2 },
    spec,
    status: { observedGeneration: 2, ...status },
  });
  const DEPLOYMENT = "apps/v1 Deployment";
  const STATEFUL_SET = "apps/v1 StatefulSet";
  const DAEMON_SET = "apps/v1 DaemonSet";

  it.each([
    [
      DEPLOYMENT,
      { metadata: { name: "x", deletionTimestamp: "2027-01-31T00:00:00Z" } },
      "IN_PROGRESS is being deleted",
    ],
    [
      DEPLOYMENT,
      { metadata: { name: "x", generation: 3 }, status: { observedGeneration: 2 } },
      "IN_PROGRESS waits for its controller",
    ],
    [DEPLOYMENT, { spec: {} }, "IN_PROGRESS waits for its controller"],
    [
      DEPLOYMENT,
      counts({ replicas: 2 }, { updatedReplicas: 1, availableReplicas: 2 }),
      "IN_PROGRESS 1 of 2 pods are updated",
    ],
    [
      DEPLOYMENT,
      counts({ replicas: 2 }, { replicas: 3, updatedReplicas: 2, availableReplicas: 2 }),
      "IN_PROGRESS old pods that have not ended: 1",
    ],
    [
      DEPLOYMENT,
      counts({ replicas: 2 }, { replicas: 2, updatedReplicas: 2, availableReplicas: 1 }),
      "IN_PROGRESS 1 of 2 pods are available",
    ],
    [
      DEPLOYMENT,
      counts({}, { replicas: 1, updatedReplicas: 1, availableReplicas: 1 }),
      "COMPLETE 1 of 1 pods are available",
    ],
    [DEPLOYMENT, counts({ replicas: 0 }, {}), "COMPLETE 0 of 0 pods are available"],
    [DEPLOYMENT, counts({ paused: true }, {}), "COMPLETE is paused"],
    [
      DEPLOYMENT,
      {
        status: {
          conditions: [{ type: "ReplicaFailure", status: "True", message: "exceeded quota" }],
        },
      },
      "IN_PROGRESS exceeded quota",
    ],
    [
      DEPLOYMENT,
      {
        status: {
          conditions: [
            {
              type: "Progressing",
              status: "False",
              reason: "ProgressDeadlineExceeded",
              message: "too late",
            },
          ],
        },
      },
      "FAILED too late",
    ],
    [
      STATEFUL_SET,
      counts(
        { replicas: 3 },
        { currentRevision: "a", updateRevision: "b", updatedReplicas: 2, readyReplicas: 3 },
      ),
      "IN_PROGRESS 2 of 3 pods are updated",
    ],
    [
      STATEFUL_SET,
      counts({ replicas: 3 }, { currentRevision: "b", updateRevision: "b", readyReplicas: 2 }),
      "IN_PROGRESS 2 of 3 pods are available",
    ],
    [
      STATEFUL_SET,
      counts({ replicas: 3 }, { currentRevision: "b", updateRevision: "b", readyReplicas: 3 }),
      "COMPLETE 3 of 3 pods are available",
    ],
    [
      STATEFUL_SET,
      counts(
        { replicas: 3, updateStrategy: { rollingUpdate: { partition: 2 } } },
        { currentRevision: "a", updateRevision: "b", updatedReplicas: 1, readyReplicas: 3 },
      ),
      "COMPLETE 3 of 3 pods are available",
    ],
    [
      STATEFUL_SET,
      counts({ updateStrategy: { type: "OnDelete" } }, {}),
      "COMPLETE is replaced when its pods are deleted",
    ],
    [
      DAEMON_SET,
      counts({}, { desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2 }),
      "IN_PROGRESS 1 of 2 pods are updated",
    ],
    [
      DAEMON_SET,
      counts({}, { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 }),
      "COMPLETE 2 of 2 pods are available",
    ],
    ["batch/v1 Job", { spec: {}, status: {} }, "IN_PROGRESS runs"],
    ["batch/v1 Job", { spec: { suspend: true } }, "COMPLETE is suspended"],
    ["batch/v1 Job", condition("Complete"), "COMPLETE has completed"],
    ["batch/v1 Job", condition("Failed", "True", "too many"), "FAILED too many"],
    ["batch/v1 Job", condition("Failed", "False"), "IN_PROGRESS runs"],
    ["Pod", { status: { phase: "Pending" } }, "IN_PROGRESS is not ready"],
    ["Pod", { status: { phase: "Failed" } }, "FAILED has failed"],
    ["Pod", { status: { phase: "Succeeded" } }, "COMPLETE has succeeded"],
    ["Pod", condition("Ready"), "COMPLETE is ready"],
    ["Service", { spec: { type: "ClusterIP" } }, "COMPLETE exists"],
    [
      "Service",
      { spec: { type: "LoadBalancer" }, status: { loadBalancer: {} } },
      "IN_PROGRESS waits for its load balancer",
    ],
    [
      "Service",
      {
        spec: { type: "LoadBalancer" },
        status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } },
      },
      "COMPLETE has its load balancer",
    ],
    ["PersistentVolumeClaim", { status: { phase: "Pending" } }, "COMPLETE exists"],
    ["PersistentVolumeClaim", { status: { phase: "Lost" } }, "FAILED has lost its volume"],
    [
      "apiextensions.k8s.io/v1 CustomResourceDefinition",
      condition("Established"),
      "COMPLETE is established",
    ],
    ["apiextensions.k8s.io/v1 CustomResourceDefinition", {}, "IN_PROGRESS is not established"],
    [
      "apiextensions.k8s.io/v1 CustomResourceDefinition",
      condition("NamesAccepted", "False", "in use"),
      "FAILED in use",
    ],
    [
      "example.com/v1 Database",
      condition("Ready", "False", "is starting"),
      "IN_PROGRESS is starting",
    ],
    ["example.com/v1 Database", condition("Ready"), "COMPLETE is ready"],
    ["example.com/v1 Database", condition("Stalled", "True", "no space"), "FAILED no space"],
    ["example.com/v1 Database", {}, "COMPLETE exists"],
    ["ConfigMap", {}, "COMPLETE exists"],
  ])("of the kind %s with %j is %s", (kind, rest, expected) => {
    const { end, text } = readState(of(kind, rest));
    expect(`${end} ${text}`).toBe(expected);
  });

  it("is followed by a rollout if its controller decides when pods are replaced", () => {
    const kinds = [DEPLOYMENT, STATEFUL_SET, DAEMON_SET, "batch/v1 Job", "Pod"];
    expect(kinds.filter((kind) => isRolledOut(of(kind, {})))).toEqual(kinds.slice(0, 3));
    expect(isRolledOut(of(DEPLOYMENT, { spec: { paused: true } }))).toBe(false);
    expect(isRolledOut(of(DAEMON_SET, { spec: { updateStrategy: { type: "OnDelete" } } }))).toBe(
      false,
    );
  });
});
