import { selectIn } from '../test/support/select-rows.ts';
import type { World } from './world.ts';
import { eventsOf, hourAt, type Organization } from './workload.ts';
import type { WorkloadSize } from './options.ts';

/** The slots so far, the hours whose events are acknowledged, and the acknowledged other detections by organization. */
export type Acknowledged = { slots: number; sent: readonly number[]; later: ReadonlyMap<string, readonly string[]> };

/** Counts of what was compared. */
export type CheckedCounts = { events: number; writes: number; windows: number; hits: number };

/** Returns the work up to a slot that is left: slots that are due, windows, runs, matched windows, and gaps that are filled without a request. */
export async function readRemainingWork({ db }: Pick<World, 'db'>, hour: number): Promise<Record<string, number>> {
  const [left] = await selectIn(db)<{ slots: number; windows: number; runs: number; matched: number; gaps: number }>`
    select (select count(*) from schedules where next_slot_at <= ${hourAt(hour)}) as slots,
      (select count(*) from pending_windows) as windows, (select count(*) from run_queue) as runs,
      (select count(*) from matched_windows) as matched,
      (select count(*) from gaps where state = 'filling' or (state = 'open' and fill_at is not null)) as gaps`;
  return left!;
}

/** Compares the state of one organization with what was sent. Returns the deviations and what was compared. */
export async function checkOrganization(
  { db, cluster }: World,
  org: Organization,
  { slots: slotCount, sent: sentHours, later }: Acknowledged,
  size: WorkloadSize,
): Promise<{ deviations: string[]; counts: CheckedCounts }> {
  const select = selectIn(db, org.id);
  const deviations: string[] = [];
  const expectSame = (what: string, actual: readonly string[], expected: readonly string[]): void => {
    const [has, wants] = [countTexts(actual), countTexts(expected)];
    for (const text of new Set([...actual, ...expected])) {
      const [found = 0, wanted = 0] = [has.get(text), wants.get(text)];
      if (found !== wanted) deviations.push(`${what}: ${text} is there ${found} times instead of ${wanted}`);
    }
  };
  const sent = sentHours.map((hour) => eventsOf(size, hour));
  const events = sent.flatMap((hour) => hour.events.map(({ id }) => id));
  const body = JSON.stringify({
    query: 'SELECT count(*) AS n, count(DISTINCT _id) AS d FROM auth',
    from: hourAt(0).toISOString(),
    to: hourAt(slotCount + 10).toISOString(),
  });
  const { rows } = (await cluster.ask('POST', '/api/logs/search', { key: org.key, body })) as { rows: unknown[] };
  expectSame('stored events', [JSON.stringify(rows)], [JSON.stringify([{ n: events.length, d: events.length }])]);
  const datasets = await select<{ events: number }>`select events from datasets where name = 'auth'`;
  expectSame('counted events', [String(datasets[0]?.events)], [String(events.length)]);

  const agents = new Set((await select<{ id: string }>`select id from agents`).map(({ id }) => id));
  const writes = [...org.detections, ...later.get(org.id)!];
  for (const id of writes) if (!agents.has(id)) deviations.push(`detection ${id} was acknowledged and is lost`);

  const slots = Array.from({ length: slotCount }, (_, n) => hourAt(n + 1).toISOString());
  const runs = await select<{ id: string; at: Date }>`
    select detection_id as id, slot_at as at from runs where trigger = 'schedule'`;
  expectSame(
    'slots',
    runs.map(({ id, at }) => `${org.detections.indexOf(id)} ${at.toISOString()}`),
    org.detections.flatMap((_, rule) => slots.map((slot) => `${rule} ${slot}`)),
  );
  const examined = await select<{ id: string; from: Date; to: Date }>`
    select detection_id as id, covered_from as from, covered_to as to from coverage`;
  const timeLines = Map.groupBy(examined, ({ id }) => org.detections.indexOf(id));
  expectSame(
    'examined time',
    [...timeLines].flatMap(([rule, ranges]) => joinRanges(ranges).map((range) => `${rule} ${range}`)),
    org.detections.map((_, rule) => `${rule} ${hourAt(0).toISOString()} to ${hourAt(slotCount).toISOString()}`),
  );
  for (const gap of await select`select * from gaps where state <> 'filled'`)
    deviations.push(`gap: ${JSON.stringify(gap)}`);
  const missed = await select<{ n: number }>`select coalesce(sum(missed), 0)::int as n from continuous_detections`;
  expectSame('found by a slot and missed on arrival', [String(missed[0]!.n)], ['0']);

  const hits = await select<{ id: string; entity: string; evidence: string; occurrences: number }>`
    select detection_id as id, entity, evidence, occurrences from hits`;
  const planted = sent.flatMap((hour) => hour.planted);
  expectSame(
    'hits',
    hits.map(({ id, entity, evidence, occurrences }) =>
      [org.detections.indexOf(id), entity, listCited(evidence), occurrences].join(' '),
    ),
    planted.map(({ rule, user, id }) => `${rule} ${user} ${id} 1`),
  );
  const counts = { events: events.length, writes: writes.length, windows: runs.length, hits: planted.length };
  return { deviations, counts };
}

/** Joins ranges that meet. Ranges that overlap stay apart. */
function joinRanges(ranges: readonly { from: Date; to: Date }[]): string[] {
  const joined: { from: Date; to: Date }[] = [];
  for (const { from, to } of ranges.toSorted((a, b) => a.from.getTime() - b.from.getTime())) {
    const last = joined.at(-1);
    if (last?.to.getTime() === from.getTime()) last.to = to;
    else joined.push({ from, to });
  }
  return joined.map(({ from, to }) => `${from.toISOString()} to ${to.toISOString()}`);
}

function countTexts(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** Returns the IDs of the events that the evidence of a hit cites. */
function listCited(evidence: string): string {
  const cited = (JSON.parse(evidence) as { observation: string; rowId: string }[]).filter(
    ({ observation }) => observation === 'rows',
  );
  return [...new Set(cited.map(({ rowId }) => rowId))].join();
}
