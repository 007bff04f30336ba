/** The largest number that an `integer` column of PostgreSQL can store. */
export const integerMax = 2_147_483_647;
