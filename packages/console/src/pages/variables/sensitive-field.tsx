import { isSensitive } from "../../../../cli/src/variables/sensitive.ts";
import type { Schemas } from "../../api.ts";
import { Check, SelectField } from "../../components/form.tsx";

type StorageMethod = Schemas["StorageMethod"];

const STORAGE_METHODS = [
  ["secret", "secret: in the provider's secret store"],
  ["secure_string", "secure_string: as an encrypted parameter"],
  ["string", "string: as plain text"],
] as const;

interface SensitiveFieldProps {
  label: string;
  method: StorageMethod;
  setMethod: (method: StorageMethod) => void;
}

/** Most people decide only whether a value is sensitive. The storage method is for those with runners of their own. */
export function SensitiveField({ label, method, setMethod }: SensitiveFieldProps) {
  return (
    <div class="stack tight">
      <Check
        name="sensitive"
        label={label}
        checked={isSensitive(method)}
        onChange={(checked) => setMethod(checked ? "secret" : "string")}
      />
      <p class="soft small">
        Runners hide sensitive values in logs. Every value is stored encrypted.
      </p>
      <details>
        <summary>Storage method: {method}</summary>
        <SelectField
          name="storage_method"
          label="How a runner of your own stores it"
          options={STORAGE_METHODS}
          value={method}
          onChange={(value) => setMethod(value as StorageMethod)}
        />
      </details>
    </div>
  );
}
