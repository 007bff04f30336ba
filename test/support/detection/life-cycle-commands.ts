import fc from 'fast-check';
import { expect } from 'vitest';
import type { TestOrg } from '../harness.ts';
import { detectionBody } from './detection-factory.ts';
import { createModel, planDueSlot, transitions, type DetectionModel, type LifeCycleInput } from './life-cycle-model.ts';

/** The expected detections of two organizations, in order of creation. */
export type OrgModels = { entries: [DetectionModel[], DetectionModel[]] };
export type RealOrgs = {
  orgs: [TestOrg, TestOrg];
  now: () => number;
  /** Advances slot time by this many milliseconds and lets the scheduler plan what is due then. */
  advance: (ms: number) => Promise<void>;
};
type Command = fc.AsyncCommand<OrgModels, RealOrgs>;
/**
 * A detection chosen by position, and the organization that acts on it. `elapsedMs` may be 0, because `updatedAt` must move
 * forward even if the clock does not.
 */
type Target = { actor: 0 | 1; owner: 0 | 1; position: number; elapsedMs: number };

const urlOf = (id: string, action: string): string => `/api/detections/${id}${action && `/${action}`}`;

const command = (text: string, run: (model: OrgModels, real: RealOrgs) => Promise<void>): Command => ({
  check: () => true,
  run,
  toString: () => text,
});

function create(org: 0 | 1, isSuggestion: boolean, fields: LifeCycleInput): Command {
  return command(`${org} ${isSuggestion ? 'suggests' : 'creates'} ${JSON.stringify(fields)}`, async (model, real) => {
    await real.advance(1000);
    const url = `/api/detections${isSuggestion ? '/suggestions' : ''}`;
    const { status, body } = await real.orgs[org].call('POST', url, detectionBody(fields));
    const entry = createModel(body.id, isSuggestion, { name: String(detectionBody()['name']), ...fields }, real.now());
    expect(status).toBe(entry === 400 ? 400 : 200);
    if (entry === 400) return;
    expect(body).toMatchObject({ ...entry.visible, createdAt: body.updatedAt, organizationId: real.orgs[org].id });
    model.entries[org].push({ ...entry, record: body });
  });
}

/** Applies a transition to a detection. If it belongs to the other organization, the response must be 404. */
function transition(target: Target, name: keyof typeof transitions, fields: LifeCycleInput): Command {
  const { actor, owner, position, elapsedMs } = target;
  return command(`${actor}: ${name} number ${position} of ${owner} ${JSON.stringify(fields)}`, async (model, real) => {
    const entries = model.entries[owner];
    if (entries.length === 0) return;
    await real.advance(elapsedMs);
    const entry = entries[position % entries.length]!;
    const method = ({ update: 'PUT', delete: 'DELETE' } as Record<string, 'PUT' | 'DELETE'>)[name] ?? 'POST';
    const url = urlOf(entry.id, method === 'POST' ? name : '');
    const body = name === 'update' || name === 'accept' ? fields : undefined;
    const response = await real.orgs[actor].call(method, url, body);
    if (actor !== owner) return void expect([name, response.status]).toEqual([name, 404]);
    const next = transitions[name](entry, real.now(), fields);
    expect([name, response.status]).toEqual([name, typeof next === 'number' ? next : 200]);
    if (typeof next === 'number') return;
    expect(response.body).toMatchObject(next.visible);
    const before = entry.record as { updatedAt: string };
    // A transition without a visible change returns the same record. Any other moves updatedAt forward.
    if (isSameRecord(entry, next)) expect(response.body).toEqual(before);
    else expect(response.body.updatedAt > before.updatedAt).toBe(true);
    entries[position % entries.length] = { ...next, record: response.body };
  });
}

const isSameRecord = (a: DetectionModel, b: DetectionModel): boolean =>
  JSON.stringify([a.visible, a.cadence, a.custom]) === JSON.stringify([b.visible, b.cadence, b.custom]);

/** Requests a manual run. It stays queued until its detection is deleted, because no worker runs in this test. */
function requestRun({ actor, owner, position }: Target): Command {
  return command(`${actor}: run number ${position} of ${owner}`, async (model, real) => {
    const entries = model.entries[owner];
    if (entries.length === 0) return;
    await real.advance(1000);
    const entry = entries[position % entries.length]!;
    const { isSuggestion, deletedAt } = entry.visible;
    const { status } = await real.orgs[actor].call('POST', urlOf(entry.id, 'run'), {});
    if (actor !== owner) return void expect(status).toBe(404);
    expect(status).toBe(isSuggestion || deletedAt || entry.hasManualRun ? 409 : 200);
    if (status === 200) entries[position % entries.length] = { ...entry, hasManualRun: true };
  });
}

function wait(hours: number): Command {
  return command(`wait ${hours} h`, async (model, real) => {
    await real.advance(hours * 3_600_000);
    for (const entries of model.entries)
      for (const entry of entries) entry.timeLine = planDueSlot(entry.timeLine, real.now());
  });
}

const org = fc.constantFrom(0 as const, 1 as const);
const position = fc.nat({ max: 2 });
// Mostly the actor's own detections, because access to the other organization's is always refused.
const target = fc
  .record({
    actor: org,
    isOwner: fc.integer({ min: 0, max: 7 }).map((pick) => pick > 0),
    position,
    elapsedMs: fc.constantFrom(0, 1000),
  })
  .map(({ actor, isOwner, position, elapsedMs }): Target => {
    const other = actor === 0 ? 1 : 0;
    return { actor, owner: isOwner ? actor : other, position, elapsedMs };
  });
const schedule = {
  detectionCadence: fc.constantFrom('hourly' as const, 'daily' as const, null),
  customCronSchedule: fc.constantFrom('5 * * * *', '10 * * * *', null),
  enabled: fc.boolean(),
};
const createFields = fc.record(schedule, { requiredKeys: [] });
const updateFields = fc.record(
  {
    ...schedule,
    name: fc.constantFrom('A', 'B'),
    description: fc.constantFrom('text', '', null),
    siemType: fc.constantFrom('splunk', null),
    toolNames: fc.constantFrom(['get_rows'], [], null),
    tags: fc.constantFrom(['One', 'one'], ['two'], []),
  },
  { requiredKeys: [] },
);

/** The initial detections of each organization, so that a sequence of commands reaches interesting states sooner. */
export const seedCommands: Command[] = ([0, 1] as const).flatMap((org) => [
  create(org, false, { detectionCadence: 'hourly' }),
  create(org, true, { detectionCadence: 'hourly', enabled: false }),
  create(org, true, {}),
]);

export const lifeCycleCommands = fc.commands(
  [
    fc.tuple(org, fc.boolean(), createFields).map((args) => create(...args)),
    fc
      .tuple(target, fc.constantFrom('update' as const, 'accept' as const), updateFields)
      .map((args) => transition(...args)),
    fc
      .tuple(target, fc.constantFrom('accept', 'dismiss', 'delete', 'restore'))
      .map(([chosen, name]) => transition(chosen, name, {})),
    fc.tuple(target, fc.constantFrom('delete', 'restore')).map(([chosen, name]) => transition(chosen, name, {})),
    target.map(requestRun),
    fc.integer({ min: 1, max: 30 }).map(wait),
  ],
  { maxCommands: 40, size: 'max' },
);
