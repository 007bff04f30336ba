import { expect, test } from 'vitest';
import {
  SiemError,
  type QueryWindow,
  type SearchLimits,
  type SiemConnection,
} from '../../../src/detection/siem/connector.ts';

/**
 * The input of an adapter's test: a connection to an engine that contains `events` (one per hour from `firstAt`, on its event or ingest
 * clock), and the suite's queries in the engine's language.
 */
export type ConformanceFixture = {
  connection: SiemConnection;
  events: number;
  firstAt: Date;
  /** `unknownField` is absent if queries define their own fields, so no field can be unknown. */
  queries: { all: string; groups: string; unknownField?: string; broken: string; empty: string };
};

const limits: SearchLimits = { rowsMax: 100, groupsMax: 100, timeoutMs: 10_000 };
const hourMs = 3_600_000;

/** Tests the promises that every connection must keep. Call it in the adapter's test file. */
export function testConnectorConformance(name: string, make: () => Promise<ConformanceFixture>): void {
  const fixture = make();
  const signal = AbortSignal.timeout(60_000);
  const windowOf = (
    { firstAt }: ConformanceFixture,
    hours: [number, number],
    clock: QueryWindow['clock'],
  ): QueryWindow => ({
    from: new Date(firstAt.getTime() + hours[0] * hourMs),
    to: new Date(firstAt.getTime() + hours[1] * hourMs),
    clock,
  });

  test(`${name}: windows are half open, and neighbours share no event and lose none`, async () => {
    const made = await fixture;
    const { connection, queries, events } = made;
    let seen = 0;
    for (let hour = 0; hour < events; hour++) {
      const result = await connection.search(
        queries.all,
        windowOf(made, [hour, hour + 1], connection.clock),
        limits,
        signal,
      );
      expect(result).toMatchObject({ total: 1, truncated: false, aggregate: false, noData: false });
      expect(result.rows).toHaveLength(1);
      seen += result.total;
    }
    expect(seen).toBe(events);
    const whole = await connection.search(queries.all, windowOf(made, [0, events], connection.clock), limits, signal);
    expect(whole.total).toBe(events);
    expect(JSON.parse(JSON.stringify(whole.rows))).toEqual(whole.rows);
    const times = whole.rows.map((row) => row['_time'] ?? row['@timestamp'] ?? row['TimeGenerated']);
    expect(times).toEqual(
      times.map((_, hour) => windowOf(made, [hour, hour + 1], connection.clock).from.toISOString()),
    );
  });

  test(`${name}: rows beyond the bound are cut and said to be; the same are kept each time`, async () => {
    const made = await fixture;
    const { connection, queries, events } = made;
    const window = windowOf(made, [0, events], connection.clock);
    const [first, second] = [1, 2].map(() => connection.search(queries.all, window, { ...limits, rowsMax: 2 }, signal));
    expect(await first).toMatchObject({ truncated: true });
    expect((await first!).rows).toHaveLength(2);
    expect((await second!).rows).toEqual((await first!).rows);
  });

  test(`${name}: groups are told from events, and nothing from a failure`, async () => {
    const made = await fixture;
    const { connection, queries, events } = made;
    const window = windowOf(made, [0, events], connection.clock);
    expect(await connection.search(queries.groups, window, limits, signal)).toMatchObject({
      aggregate: true,
      truncated: false,
    });
    expect(await connection.search(queries.empty, window, limits, signal)).toMatchObject({
      rows: [],
      total: 0,
      truncated: false,
    });
  });

  test(`${name}: the author is blamed for the author's mistakes, in a search and in a check`, async () => {
    const made = await fixture;
    const { connection, queries, events } = made;
    const window = windowOf(made, [0, events], connection.clock);
    await connection.check(queries.all, signal);
    for (const query of [queries.broken, ...(queries.unknownField ? [queries.unknownField] : [])]) {
      for (const ask of [
        () => connection.search(query, window, limits, signal),
        () => connection.check(query, signal),
      ]) {
        const error = await ask().then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect(error).toBeInstanceOf(SiemError);
        expect((error as SiemError).failure).toMatchObject({ blame: 'author', retryable: false });
      }
    }
  });

  test(`${name}: a signal that was given ends a search`, async () => {
    const made = await fixture;
    const window = windowOf(made, [0, 1], made.connection.clock);
    await expect(made.connection.search(made.queries.all, window, limits, AbortSignal.abort())).rejects.toThrow();
  });

  test(`${name}: its fields can be listed`, async () => {
    const fields = await (await fixture).connection.fields();
    expect(fields.flatMap((dataset) => dataset.fields).length).toBeGreaterThan(0);
  });

  test(`${name}: it answers`, async () => {
    await expect((await fixture).connection.ping(signal)).resolves.toBeUndefined();
  });
}
