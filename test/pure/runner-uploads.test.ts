import { expect, it, vi } from "vitest";
import { Uploads } from "../../packages/runner/src/uploads.ts";

const newUpload = () => {
  const { promise: uploaded, resolve: end } = Promise.withResolvers<void>();
  return { uploaded, end, stop: vi.fn(end) };
};

it("stops the oldest of five pending uploads, and none of four", async () => {
  const uploads = new Uploads();
  const all = Array.from({ length: 6 }, newUpload);
  const stopped = () => all.flatMap(({ stop }, at) => (stop.mock.calls.length > 0 ? [at] : []));
  for (const upload of all.slice(0, 4)) uploads.add(upload);
  expect(stopped()).toEqual([]);
  for (const upload of all.slice(4, 5)) uploads.add(upload);
  expect(stopped()).toEqual([0]);
  await all[0]?.uploaded;
  all[2]?.end();
  await all[2]?.uploaded;
  for (const upload of all.slice(5)) uploads.add(upload);
  expect(stopped()).toEqual([0]);
});
