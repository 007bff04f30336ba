import { z } from 'zod';

const [first, last] = [Date.parse('0001-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')];

/** An RFC 3339 time. The database has no year 0, and in UTC the year must have four digits. */
export const Instant = z.iso
  .datetime({ offset: true, abort: true, error: 'must be an RFC 3339 time such as 2026-03-02T00:00:00Z' })
  .refine((text) => Date.parse(text) >= first && Date.parse(text) <= last, 'must be within the years 1 to 9999');

export const isInstant = (text: string): boolean => Instant.safeParse(text).success;
