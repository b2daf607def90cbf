import { ProgramError } from "../../program/src/index.ts";

/** A name with its registry, then a tag, a digest, or both. */
const IMAGE =
  /^(\w[\w.-]*(?::\d+)?(?:\/[\w.-]+)*?)(?::(\w[\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/;

/** An entry of `images` in a kustomization. */
interface ImageChange {
  name: string;
  newName: string;
  newTag?: string;
  digest?: string;
}

/** What replaces the images of manifests, by the names that they have there. */
export function toImageChanges(images: Readonly<Record<string, string>>): ImageChange[] {
  return Object.entries(images).map(([name, image]) => {
    const [, newName, newTag, digest] = IMAGE.exec(image) ?? [];
    if (newName === undefined) {
      throw new ProgramError(`The setting images has no image for ${JSON.stringify(name)}.`);
    }
    // Kustomize accepts one of both. A digest says more than a tag.
    if (digest !== undefined) return { name, newName, digest };
    return { name, newName, ...(newTag !== undefined && { newTag }) };
  });
}
