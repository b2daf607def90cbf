import type { Stack } from "@aws-sdk/client-cloudformation";
import type { Report } from "../../program/src/index.ts";

/** How CloudFormation shows the value of a parameter with `NoEcho`. */
const HIDDEN = "****";

/** Reports the outputs, `url` first. One that has the value of a parameter with `NoEcho` is left out. */
export function reportOutputs(
  report: Report,
  { Outputs = [], Parameters = [] }: Stack,
  given: Readonly<Record<string, string>>,
): void {
  const hidden = Parameters.flatMap(({ ParameterKey = "", ParameterValue }) =>
    ParameterValue === HIDDEN && given[ParameterKey] ? [given[ParameterKey]] : [],
  );
  const outputs = Outputs.map(({ OutputKey = "", OutputValue = "" }) => ({
    name: OutputKey.toLowerCase() === "url" ? "url" : OutputKey,
    value: OutputValue,
  }));
  for (const { name, value } of outputs.toSorted((a, b) => rank(a.name) - rank(b.name))) {
    if (hidden.some((each) => value.includes(each))) {
      console.log(`The output ${name} is not reported: it has the value of a NoEcho parameter.`);
    } else report.output(name, value);
  }
}

function rank(name: string): number {
  return name === "url" ? 0 : 1;
}
