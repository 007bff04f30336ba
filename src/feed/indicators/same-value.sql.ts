import { sql } from 'kysely';
import type { Sql } from '../items/list-query/query.sql.ts';

/**
 * The condition that the value of an override is a requested form. `requested` is the table with its columns `form` and `is_case_insensitive`.
 * Both sides of the first comparison can be hashed.
 */
export const isSameValue = (overrideValue: Sql, requested: string): Sql => {
  const [form, isCaseInsensitive] = [sql.ref(`${requested}.form`), sql.ref(`${requested}.is_case_insensitive`)];
  return sql`lower(${overrideValue}) = lower(${form}) and (${overrideValue} = ${form} or ${isCaseInsensitive})`;
};
