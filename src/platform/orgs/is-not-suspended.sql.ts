import { sql, type RawBuilder } from 'kysely';

/** Condition that an organization is not suspended. The list of suspended organizations is read once per statement. */
export const isNotSuspended = (orgId: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`${orgId} <> all (array(select id from organizations where suspended_at is not null))`;
