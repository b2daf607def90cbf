export interface Guide {
  slug: string;
  title: string;
}

export function guideOfTag(_tag: string): Guide | undefined {
  return undefined;
}
