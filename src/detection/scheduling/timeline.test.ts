import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newAgentId } from '../../../test/support/models/agent-steps.ts';
import { newOrgId, testDatabase } from '../../../test/support/database.ts';
import { inOrg } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { lastSlot, nextSlot, parseCron } from '../../platform/lib/time/cron.ts';
import { enqueueDueRunsAcrossOrgs } from './enqueue-runs.ts';
import { type DetectionKey, mergeAdjacentGaps } from './timeline.ts';
import { changeSchedule, openSchedule } from './schedule-lifecycle.ts';
import { coverWindow, replaceWindowWithGap, listPendingWindows, recordWindowFailure } from './coverage.store.ts';

const { db, query } = await testDatabase();
const hourMs = 3_600_000;
const start = new Date('2026-03-01T10:20:00Z');
const crons = ['0 * * * *', '15 */6 * * *', '30 2 * * *', '0 0 * * 1'];

type Piece = { from: Date; to: Date; kind: string };

/** A plain reference implementation: a list of labelled pieces of the timeline. */
type Model = {
  cron: string;
  active: boolean;
  next: Date | null;
  from: Date;
  boundary: Date;
  lookback: number;
  now: Date;
  pieces: (Piece & { slot: Date })[];
  slots: Set<number>;
};

const getLookbackMs = (cron: string): number =>
  Math.max(24, { '0 * * * *': 3, '15 */6 * * *': 18, '30 2 * * *': 72 }[cron] ?? 504) * hourMs;

function tick(model: Model): void {
  if (!model.active || !model.next || model.next > model.now) return;
  while (model.next && model.next <= model.now) {
    if (model.next > model.boundary)
      model.pieces.push({ from: model.boundary, to: model.next, slot: model.next, kind: 'pending' });
    if (model.next > model.boundary) model.boundary = model.next;
    model.slots.add(model.next.getTime());
    model.next = nextSlot(parseCron(model.cron), model.next);
  }
  const reach = model.now.getTime() - model.lookback;
  for (const piece of model.pieces) {
    if (piece.kind.startsWith('pending') && piece.slot.getTime() < reach) piece.kind = piece.kind.slice(8) || 'late';
  }
}

const op = fc.oneof(
  { weight: 6, arbitrary: fc.record({ op: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 900 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant('wait' as const), minutes: fc.integer({ min: 900, max: 60_000 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant('examine' as const),
      windows: fc.integer({ min: 1, max: 5 }),
      truncated: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant('fail' as const), kind: fc.constantFrom('query_timeout', 'unavailable') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant('change' as const), cron: fc.constantFrom(...crons), active: fc.boolean() }),
  },
);
type Op = typeof op extends fc.Arbitrary<infer T> ? T : never;

function apply(model: Model, step: Op): void {
  if (step.op === 'wait') {
    model.now = new Date(model.now.getTime() + step.minutes * 60_000);
    tick(model);
  } else if (step.op === 'examine') {
    const open = model.pieces.filter((piece) => piece.kind.startsWith('pending')).slice(0, step.windows);
    for (const piece of open) piece.kind = step.truncated ? 'truncated' : 'covered';
  } else if (step.op === 'fail') {
    for (const piece of model.pieces) if (piece.kind.startsWith('pending')) piece.kind = `pending ${step.kind}`;
  } else {
    tick(model);
    const cron = parseCron(step.cron);
    if (step.active && !model.active) {
      const opened = lastSlot(cron, model.now)!;
      if (opened > model.boundary) {
        model.pieces.push({ from: model.boundary, to: opened, slot: opened, kind: 'disabled' });
        model.boundary = opened;
      }
    }
    Object.assign(model, {
      cron: step.cron,
      active: step.active,
      lookback: getLookbackMs(step.cron),
      next: step.active ? nextSlot(cron, model.now) : null,
    });
  }
}

async function applyToDatabase(detection: DetectionKey, { now }: Model, step: Op): Promise<void> {
  if (step.op === 'wait') {
    await enqueueAll(now);
  } else if (step.op === 'examine') {
    const pending = await inOrg(db, detection.orgId, (tx) =>
      listPendingWindows(tx, detection, { slotAt: now, limit: step.windows }),
    );
    for (const window of pending) {
      await inOrg(db, detection.orgId, (tx) =>
        step.truncated
          ? replaceWindowWithGap(tx, detection, { ...window, reason: 'truncated', now })
          : coverWindow(tx, detection, window),
      );
    }
  } else if (step.op === 'fail') {
    await inOrg(db, detection.orgId, (tx) => recordWindowFailure(tx, detection, { slotAt: now, kind: step.kind }));
  } else {
    const { cron, active } = step;
    const change = { ...detection, cron, active, lookbackMinutes: null, now, reason: 'disabled' as const };
    await inOrg(db, detection.orgId, (tx) => changeSchedule(tx, change));
  }
}

const open = (detection: DetectionKey, cron: string) =>
  inOrg(db, detection.orgId, (tx) =>
    openSchedule(tx, { ...detection, cron, active: true, lookbackMinutes: null, now: start }),
  );

async function enqueueAll(now: Date): Promise<void> {
  while ((await enqueueDueRunsAcrossOrgs(db, { now, spreadMs: 0, limit: 100 })).more);
}

async function readTimeline(orgId: OrgId): Promise<{ pieces: Piece[]; from: Date; boundary: Date; slots: number[] }> {
  const pieces = await query<Piece>`
    select window_from as "from", window_to as "to", 'pending' || coalesce(' ' || failure, '') as kind from pending_windows
      where organization_id = ${orgId}
    union all select covered_from, covered_to, 'covered' from coverage where organization_id = ${orgId}
    union all select gap_from, gap_to, reason from gaps where organization_id = ${orgId} order by 1`;
  const [line] = await query<{ from: Date; boundary: Date }>`
    select coverage_from as "from", boundary_at as boundary from schedules where organization_id = ${orgId}`;
  const slots = await query<{ at: Date }>`select slot_at as at from runs where organization_id = ${orgId} order by 1`;
  return { pieces, ...line!, slots: slots.map(({ at }) => at.getTime()) };
}

// The database stores pending windows separately and merges the rest, so both sides are merged before they are compared.
const mergePieces = (pieces: Piece[]): string[] =>
  mergeAdjacentGaps(
    pieces
      .toSorted((a, b) => a.from.getTime() - b.from.getTime())
      .map(({ from, to, kind }) => ({ from, to, reason: kind })),
  ).map((piece) => `${piece.from.toISOString()} ${piece.to.toISOString()} ${piece.reason}`);

function expectNoOverlap(line: { pieces: Piece[]; from: Date; boundary: Date }): void {
  let at = line.from.getTime();
  for (const piece of line.pieces) {
    expect(piece.from.getTime()).toBe(at);
    at = piece.to.getTime();
  }
  expect(at).toBe(line.boundary.getTime());
}

test('tiles the timeline with coverage, pending windows and gaps, like the reference model, for any sequence of operations', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...crons), fc.array(op, { minLength: 4, maxLength: 18 }), async (cron, steps) => {
      const orgId = await newOrgId(db);
      const detectionId = await newAgentId(db, orgId);
      const detection = { orgId, detectionId };
      const from = lastSlot(parseCron(cron), start)!;
      const model: Model = {
        cron,
        active: true,
        next: nextSlot(parseCron(cron), start),
        from,
        boundary: from,
        lookback: getLookbackMs(cron),
        now: start,
        pieces: [],
        slots: new Set(),
      };
      await open(detection, cron);
      for (const step of steps) {
        apply(model, step);
        await applyToDatabase(detection, model, step);
        const line = await readTimeline(orgId);
        expectNoOverlap(line);
        expect(mergePieces(line.pieces)).toEqual(mergePieces(model.pieces));
        expect(line.slots).toEqual([...model.slots].toSorted((a, b) => a - b));
      }
    }),
    { numRuns: 60, endOnFailure: true },
  );
});

test('merges a window with covered time on both sides', async () => {
  const orgId = await newOrgId(db);
  const detection = { orgId, detectionId: await newAgentId(db, orgId) };
  await open(detection, '0 * * * *');
  await enqueueAll(new Date(start.getTime() + 3 * hourMs));
  const pending = await inOrg(db, orgId, (tx) =>
    listPendingWindows(tx, detection, { slotAt: new Date('2027-01-01'), limit: 10 }),
  );
  expect(pending).toHaveLength(3);
  for (const index of [2, 0, 1])
    expect(await inOrg(db, orgId, (tx) => coverWindow(tx, detection, pending[index]!))).toBe(true);
  const line = await readTimeline(orgId);
  expect(line.pieces).toEqual([{ from: line.from, to: line.boundary, kind: 'covered' }]);
  expect(await inOrg(db, orgId, (tx) => coverWindow(tx, detection, pending[1]!))).toBe(false);
});
