import { sql } from 'kysely';
import { acrossOrgs, rows, type Db } from '../src/platform/db/db.ts';

/** A stretch of a detection's time line, `gap` its reason where it is one. */
type Part = { from: Date; to: Date; gap: string | null };
type Line = { id: string; from: Date; to: Date; parts: Part[]; slots: Date[]; runs: number };

/** What became of every moment of every detection. */
export async function readTimeLines(db: Db): Promise<Map<string, Line>> {
  return acrossOrgs(db, async (tx) => {
    const lines = await rows(
      tx,
      sql<{ id: string; from: Date; to: Date }>`
        select detection_id as id, coverage_from as "from", boundary_at as "to" from schedules where active`,
    );
    const parts = await rows(
      tx,
      sql<Part & { id: string }>`
        select detection_id as id, covered_from as "from", covered_to as "to", null as gap from coverage
        union all select detection_id, gap_from, gap_to, reason from gaps order by 1, 2`,
    );
    const runs = await rows(
      tx,
      sql<{ id: string; slots: Date[]; runs: number }>`
        select detection_id as id, array_agg(distinct slot_at order by slot_at) as slots, count(*) as runs
        from runs where trigger = 'schedule' group by 1`,
    );
    const partsOf = Map.groupBy(parts, ({ id }) => id);
    const runsOf = new Map(runs.map((one) => [one.id, one]));
    const ran = (id: string) => runsOf.get(id) ?? { slots: [], runs: 0 };
    return new Map(lines.map((line) => [line.id, { ...line, parts: partsOf.get(line.id) ?? [], ...ran(line.id) }]));
  });
}

/** Reasons of gaps in whose time a detection had no slots. */
const away = new Set(['disabled', 'deleted']);
const hourMs = 3_600_000;

/** What is wrong with a time line: a hole, an overlap, a slot without its one run. `start` and `end` of the soak. */
export function faultsOf(line: Line | undefined, start: Date, end: Date): string[] {
  if (!line) return ['it has no active schedule'];
  const faults: string[] = [];
  let at = start.getTime();
  if (line.from.getTime() !== at || line.to.getTime() !== end.getTime())
    faults.push(`its time line is ${line.from.toISOString()} to ${line.to.toISOString()}`);
  for (const { from, to } of line.parts) {
    if (from.getTime() > at) faults.push(`nothing is known of ${new Date(at).toISOString()} to ${from.toISOString()}`);
    if (from.getTime() < at) faults.push(`${from.toISOString()} to ${new Date(at).toISOString()} is there twice`);
    at = to.getTime();
  }
  if (at !== end.getTime()) faults.push(`nothing is known after ${new Date(at).toISOString()}`);
  const due = slotsOf(line).map((slot) => slot.toISOString());
  const ran = line.slots.map((slot) => slot.toISOString());
  if (line.runs !== ran.length) faults.push(`${line.runs} runs for ${ran.length} slots`);
  if (due.join() !== ran.join()) faults.push(`${ran.length} slots with runs, ${due.length} were due`);
  return faults;
}

function slotsOf({ parts }: Line): Date[] {
  return parts
    .filter(({ gap }) => gap === null || !away.has(gap))
    .flatMap(({ from, to }) => {
      const hours = Math.round((to.getTime() - from.getTime()) / hourMs);
      return Array.from({ length: hours }, (_, n) => new Date(from.getTime() + (n + 1) * hourMs));
    });
}

/** Whether the hour that begins then was examined. */
export function isCovered({ parts }: Pick<Line, 'parts'>, from: Date): boolean {
  return parts.some((part) => part.gap === null && part.from <= from && part.to > from);
}
