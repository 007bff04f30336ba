import { sql, type RawBuilder } from 'kysely';

/** The expired rows: those before a time, of the organizations `only`, or of all but `except`. */
export type Expiry = { before: Date; only: readonly string[] | null; except: readonly string[] };

/** Condition that a row belongs to an organization of an expiry. */
export const belongsTo = ({ only, except }: Expiry): RawBuilder<boolean> =>
  only ? sql`organization_id = any(${only}::uuid[])` : sql`organization_id <> all(${except}::uuid[])`;
