/**
 * Returns slot time: the injected clock of slots, windows, `_ingested`, memory, suppression and statistics.
 * Leases, back-off and keys use machine time instead.
 */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();

const dayMs = 86_400_000;

/** Returns the last `count` UTC days up to the day of `now` as ISO dates, oldest first. */
export function lastUtcDays(now: Date, count: number): string[] {
  return Array.from({ length: count }, (_, n) =>
    new Date(now.getTime() - (count - 1 - n) * dayMs).toISOString().slice(0, 10),
  );
}

type WithIsoTimes<Row> = {
  [Name in keyof Row]: Date extends Row[Name] ? Exclude<Row[Name], Date> | string : Row[Name];
};

/** Returns a row as the API shows it: with RFC 3339 text in place of its times. Nested values stay as they are. */
export const withIsoTimes = <Row extends object>(row: Row): WithIsoTimes<Row> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value]),
  ) as WithIsoTimes<Row>;
