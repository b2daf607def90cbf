import type { z } from "@hono/zod-openapi";
import type { AccountInput } from "./schemas.ts";
import type { NewPerson } from "./service.ts";

/** A request's account, its profile without the fields that were sent as `null`. */
export function toNewPerson(body: z.output<typeof AccountInput>): NewPerson {
  const { email, name, display_name, avatar, profile } = body;
  return {
    email,
    name,
    displayName: display_name,
    avatar,
    profile: {
      bio: profile?.bio ?? undefined,
      github: profile?.github ?? undefined,
      location: profile?.location ?? undefined,
      twitter: profile?.twitter ?? undefined,
      website: profile?.website ?? undefined,
    },
  };
}
