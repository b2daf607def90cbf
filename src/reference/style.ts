export const ICON =
  "data:image/svg+xml," +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b5c66"/><path d="M10 8v16h13" fill="none" stroke="#fff" stroke-width="4" stroke-linecap="round" stroke-linejoin="round"/></svg>',
  );

const COLORS = `
:root {
  color-scheme: light dark;
  --page: #fff; --raised: #f6f8f9; --line: #e2e7ea; --text: #1c2327; --soft: #56636b;
  --accent: #0b6671; --accent-soft: #e4f2f3; --warn: #9a3d12; --key: #0b5c66; --string: #7a4a00;
  --get: #0b5cad; --post: #19703b; --put: #8a5200; --patch: #6b3fb3; --delete: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1417; --raised: #171e22; --line: #283237; --text: #dde4e7; --soft: #9aa7ae;
    --accent: #66c7d1; --accent-soft: #15303a; --warn: #f0a480; --key: #7fd0d9; --string: #e0b878;
    --get: #7db9ff; --post: #6fd196; --put: #e5b05c; --patch: #c4a6f7; --delete: #ff9188;
  }
}`;

const TEXT = `
* { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 400 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  overflow-wrap: break-word;
}
code, pre, .method, .status, .endpoint {
  font-family: ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
code { font-size: .875em; overflow-wrap: anywhere; }
p code, li code, .needs dd code { background: var(--raised); border-radius: .25rem; padding: .1em .3em; }
h1, h2, h3, h4 { line-height: 1.25; text-wrap: balance; margin: 0; }
h1 { font-size: 2.25rem; letter-spacing: -.025em; margin-bottom: 1.5rem; }
h2 { font-size: 1.625rem; letter-spacing: -.02em; margin-bottom: .75rem; }
h3 { font-size: 1.25rem; letter-spacing: -.01em; }
h4 { font-size: .9375rem; margin: 2rem 0 .25rem; }
p { margin: 0 0 1rem; text-wrap: pretty; }
ul { margin: 0; padding: 0; list-style: none; }
dl, dd { margin: 0; }
a { color: var(--accent); text-underline-offset: .2em; text-decoration-thickness: 1px; }
h3 a, .brand a { color: inherit; text-decoration: none; }
h3 a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: .25rem; }
main:focus { outline: none; }
summary { cursor: pointer; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 1rem; z-index: 2; background: var(--page); padding: .5rem 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; margin-bottom: 1rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem 1rem .5rem 0; font-weight: 400; }
tr { border-bottom: 1px solid var(--line); }
thead th { color: var(--soft); font-size: .8125rem; }
tbody tr:last-child { border: 0; }
th code { white-space: nowrap; }
td:first-child { font-variant-numeric: tabular-nums; color: var(--soft); }`;

const PARTS = `
.method { --of: var(--get); color: var(--of); font-size: .6875rem; font-weight: 700; letter-spacing: .02em; }
.method.post { --of: var(--post); } .method.put { --of: var(--put); }
.method.patch { --of: var(--patch); } .method.delete { --of: var(--delete); }
.endpoint { font-size: .9375rem; margin: .5rem 0 0; }
.endpoint code { background: none; padding: 0; overflow-wrap: break-word; }
.endpoint .method {
  background: color-mix(in srgb, var(--of) 9%, transparent);
  border-radius: .25rem; padding: .2rem .4rem; font-size: .75rem; margin-right: .25rem;
}
.endpoint var { font-style: normal; color: var(--accent); }
.status { color: var(--post); font-size: .875rem; }
.needs { display: flex; flex-wrap: wrap; gap: .25rem 2rem; font-size: .875rem; }
.needs div { display: flex; gap: .5rem; }
.needs dt, .type { color: var(--soft); }
.type { font-size: .8125rem; }
.required, .optional { margin-left: .25rem; color: var(--warn); font-size: .75rem; font-weight: 600; }
.optional { color: var(--soft); font-weight: 400; font-style: italic; }
.fields > div { border-top: 1px solid var(--line); padding: .75rem 0; }
h4 + .fields > div:first-child { border-top: 0; }
.fields dt code { font-weight: 600; color: var(--text); margin-right: .25rem; }
h3 + p { margin: .5rem 0; }
h3 ~ .fields > div:first-child { border-top: 0; }
.fields dd { font-size: .9375rem; }
.fields dd > :first-child { margin-top: .25rem; }
.fields p { margin: 0; }
.fields .fields, .variants > li {
  border-left: 2px solid var(--line); padding-left: 1rem; margin-top: .5rem;
}
.fields .fields > div:first-child, .variants .fields > div:first-child { border-top: 0; }
.variants .fields { border: 0; padding: 0; margin: 0; }
.limits { display: flex; flex-wrap: wrap; gap: .125rem 1rem; color: var(--soft); font-size: .8125rem; }
.limits code { color: var(--text); }
.limits summary { width: fit-content; }
.errors { margin-top: 2rem; }
.errors summary { font-size: .9375rem; font-weight: 600; width: fit-content; }
.errors table { margin-top: .5rem; }
figure { margin: 0 0 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--raised); overflow: hidden; }
figcaption { font-size: .75rem; font-weight: 600; color: var(--soft); padding: .5rem 1rem; border-bottom: 1px solid var(--line); }
pre { margin: 0; padding: .875rem 1rem; overflow: auto; max-height: 32rem; font-size: .8125rem; line-height: 1.55; tab-size: 2; }
pre:focus-visible { outline-offset: -2px; }
pre code { font-size: inherit; overflow-wrap: normal; }
pre b { font-weight: 400; color: var(--key); }
pre i { font-style: normal; color: var(--string); }`;

const LAYOUT = `
main { padding: 3rem clamp(1.25rem, 4vw, 4rem) 6rem; max-width: 86rem; min-width: 0; }
main > section { padding-bottom: 3.5rem; }
main > section + section { border-top: 1px solid var(--line); padding-top: 3.5rem; }
.prose > *, .facts, section > p { max-width: 42rem; }
.prose > h3:not(:first-child), section > p + .prose { margin-top: 2rem; }
article { padding-top: 2.5rem; }
article + article { border-top: 1px solid var(--line); margin-top: 2.5rem; }
.facts, .samples { min-width: 0; }
article > header { margin-bottom: 1rem; }
.samples { margin-top: 1.5rem; }
.side details { display: none; }
.to-contents { display: none; }
.brand { font-weight: 700; font-size: 1.0625rem; letter-spacing: -.01em; margin: 0; }
.brand span { color: var(--soft); font-weight: 400; }
.side ul a { display: flex; gap: .5rem; align-items: baseline; color: var(--soft); padding: .25rem .5rem; border-radius: .375rem; }
.side a { text-decoration: none; }
.side nav { font-size: .875rem; line-height: 1.4; }
.side nav p { margin: 1.25rem 0 .25rem; padding: 0 .5rem; font-weight: 600; }
.side nav p a { color: var(--text); }
.side nav a:hover { color: var(--text); }
.side ul a:hover { background: color-mix(in srgb, var(--soft) 12%, transparent); }
.side .method { flex: 0 0 3.25rem; font-size: .625rem; }
.side nav { scroll-target-group: auto; }
.side ul a:target-current { background: var(--accent-soft); color: var(--text); }
footer { border-top: 1px solid var(--line); padding-top: 1.5rem; color: var(--soft); font-size: .875rem; }
@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 19rem minmax(0, 1fr); }
  .side { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.75rem 1rem 2rem; background: var(--raised); border-right: 1px solid var(--line); overscroll-behavior: contain; }
  .brand { padding: 0 .5rem 1.25rem; }
}
@media (max-width: 59.999rem) {
  .side { padding: 1rem 1.25rem 0; }
  .side > nav { display: none; }
  .side details { display: block; margin-top: .75rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--raised); }
  .side summary { padding: .625rem 1rem; font-weight: 600; font-size: .9375rem; }
  .side details nav { padding: 0 .5rem 1rem; }
  .side ul a { padding: .4375rem .5rem; }
  main { padding-top: 2rem; }
  h1 { font-size: 1.875rem; }
  .to-contents { display: block; position: fixed; right: 1rem; bottom: 1rem; background: var(--page); border: 1px solid var(--line); border-radius: 2rem; padding: .5rem 1rem; font-size: .875rem; text-decoration: none; box-shadow: 0 2px 8px rgb(0 0 0 / .15); }
}
@media (min-width: 80rem) {
  article:not(.prose), #errors, #introduction { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 30rem); column-gap: 3rem; }
  article > header { grid-column: 1 / -1; }
  .samples { position: sticky; top: 1.5rem; align-self: start; margin-top: 0; }
  article .samples pre { max-height: calc(50vh - 5rem); }
}`;

/** The content security policy allows this exact text, by its hash. */
export const STYLE = COLORS + TEXT + PARTS + LAYOUT;

export const HOME_STYLE = `${COLORS}${TEXT}
main { max-width: 40rem; margin: 0 auto; padding: clamp(2rem, 10vh, 6rem) 1.5rem 2rem; }
dl { margin: 0 0 1.5rem; border-top: 1px solid var(--line); }
dt { font-weight: 600; padding-top: .75rem; }
dd { color: var(--soft); border-bottom: 1px solid var(--line); padding-bottom: .75rem; }`;
