import { z } from 'zod';

/** The largest number that an `integer` column of PostgreSQL can store. */
export const integerMax = 2_147_483_647;

/** The largest time that a `Date` can have, in milliseconds since 1970. */
export const timeMax = 8_640_000_000_000_000;

/** Returns the schema of the revision that a change is based on. */
export const revisionInput = (max: number, description: string) =>
  z.int().min(0).max(max).optional().describe(description);

/** Describes text of a query or path that must be a whole number as the integer that it is, for the OpenAPI description. */
export const integerMeta = (minimum: number, maximum?: number): Record<string, unknown> => ({
  type: 'integer',
  minimum,
  ...(maximum !== undefined && { maximum }),
});
