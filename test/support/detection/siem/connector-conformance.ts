import { expect, test } from 'vitest';
import {
  isDueToData,
  SiemError,
  type QueryWindow,
  type SearchLimits,
  type SiemConnection,
} from '../../../../src/detection/siem/connector.ts';

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
  const setUp = async () => {
    const { connection, queries, events, firstAt } = await fixture;
    const hoursFrom = (from: number, to: number): QueryWindow => ({
      from: new Date(firstAt.getTime() + from * hourMs),
      to: new Date(firstAt.getTime() + to * hourMs),
      clock: connection.clock,
    });
    const whole = hoursFrom(0, events);
    const search = (query: string, window = whole, bounds = limits) => connection.search(query, window, bounds, signal);
    return { connection, queries, events, whole, hoursFrom, search };
  };

  test(`${name}: windows are half open, and adjacent ones neither share nor lose an event`, async () => {
    const { queries, events, hoursFrom, search } = await setUp();
    let seen = 0;
    for (let hour = 0; hour < events; hour++) {
      const result = await search(queries.all, hoursFrom(hour, hour + 1));
      expect(result).toMatchObject({ total: 1, truncated: false, aggregate: false, noData: false });
      expect(result.rows).toHaveLength(1);
      seen += result.total;
    }
    expect(seen).toBe(events);
    const all = await search(queries.all);
    expect(all.total).toBe(events);
    expect(JSON.parse(JSON.stringify(all.rows))).toEqual(all.rows);
    const times = all.rows.map((row) => row['_time'] ?? row['@timestamp'] ?? row['TimeGenerated']);
    expect(times).toEqual(times.map((_, hour) => hoursFrom(hour, hour + 1).from.toISOString()));
  });

  test(`${name}: a truncated result says so and contains the same rows each time`, async () => {
    const { queries, whole, search } = await setUp();
    const [first, second] = [1, 2].map(() => search(queries.all, whole, { ...limits, rowsMax: 2 }));
    expect(await first).toMatchObject({ truncated: true });
    expect((await first!).rows).toHaveLength(2);
    expect((await second!).rows).toEqual((await first!).rows);
  });

  test(`${name}: distinguishes groups from events, and an empty result from a failure`, async () => {
    const { queries, search } = await setUp();
    expect(await search(queries.groups)).toMatchObject({ aggregate: true, truncated: false });
    expect(await search(queries.empty)).toMatchObject({ rows: [], total: 0, truncated: false });
  });

  test(`${name}: blames the author for an invalid query, in a search and in a check`, async () => {
    const { connection, queries, hoursFrom } = await setUp();
    await connection.check(queries.all, signal);
    for (const query of [queries.broken, ...(queries.unknownField ? [queries.unknownField] : [])]) {
      for (const send of [
        () => connection.search(query, hoursFrom(0, 1), limits, signal),
        () => connection.check(query, signal),
      ]) {
        const error = await send().then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect(error).toBeInstanceOf(SiemError);
        expect((error as SiemError).failure).toMatchObject({ blame: 'author', retryable: false });
      }
    }
  });

  test(`${name}: only a query that is wrong whatever the data is may disable its detection`, async () => {
    const { connection, queries, hoursFrom } = await setUp();
    const findFailure = (query: string) =>
      connection.search(query, hoursFrom(0, 1), limits, signal).then(
        () => undefined,
        (error: unknown) => (error as SiemError).failure,
      );
    expect(isDueToData((await findFailure(queries.broken))!)).toBe(false);
    const unknown = queries.unknownField && (await findFailure(queries.unknownField));
    if (unknown) expect(isDueToData(unknown)).toBe(true);
  });

  test(`${name}: an aborted signal ends a search`, async () => {
    const { connection, queries, hoursFrom } = await setUp();
    await expect(connection.search(queries.all, hoursFrom(0, 1), limits, AbortSignal.abort())).rejects.toThrow();
  });

  test(`${name}: lists fields`, async () => {
    const fields = await (await fixture).connection.fields();
    expect(fields.flatMap((dataset) => dataset.fields).length).toBeGreaterThan(0);
  });

  test(`${name}: responds to a ping`, async () => {
    await expect((await fixture).connection.ping(signal)).resolves.toBeUndefined();
  });
}
