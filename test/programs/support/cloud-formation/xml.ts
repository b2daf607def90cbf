/** As the query protocol of AWS has them. */
export type XmlValue =
  | string
  | undefined
  | readonly XmlValue[]
  | { readonly [name: string]: XmlValue };

export function renderResult(action: string, result: XmlValue): string {
  return (
    `<${action}Response><${action}Result>${render(result)}</${action}Result>` +
    `<ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></${action}Response>`
  );
}

export function renderError(code: string, message: string): string {
  const error = render({ Type: "Sender", Code: code, Message: message });
  return `<ErrorResponse><Error>${error}</Error><RequestId>1</RequestId></ErrorResponse>`;
}

function render(value: XmlValue): string {
  if (value === undefined) return "";
  if (typeof value === "string") return escapeText(value);
  if (Array.isArray(value)) return value.map((each) => `<member>${render(each)}</member>`).join("");
  return Object.entries(value)
    .map(([name, each]) => (each === undefined ? "" : `<${name}>${render(each)}</${name}>`))
    .join("");
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
