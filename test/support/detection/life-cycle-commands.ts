import fc from 'fast-check';
import { expect } from 'vitest';
import type { TestOrg } from '../harness.ts';
import { input } from './detection-factory.ts';
import { newEntry, planned, steps, type Entry, type Input } from './life-cycle-model.ts';

/** Two organizations and what each has, in the order of making. */
export type Model = { entries: [Entry[], Entry[]] };
export type Real = {
  orgs: [TestOrg, TestOrg];
  now: () => number;
  /** Moves slot time by this many milliseconds, and lets the scheduler plan what is due then. */
  pass: (ms: number) => Promise<void>;
};
type Command = fc.AsyncCommand<Model, Real>;
/** `ms`: how much later; a clock that stands still must not keep `updatedAt` from moving. */
type Which = { org: 0 | 1; of: 0 | 1; n: number; ms: number };

const at = (id: string, action: string): string => `/api/detections/${id}${action && `/${action}`}`;

const command = (text: string, run: (model: Model, real: Real) => Promise<void>): Command => ({
  check: () => true,
  run,
  toString: () => text,
});

function make(org: 0 | 1, isSuggestion: boolean, given: Input): Command {
  return command(`${org} ${isSuggestion ? 'suggests' : 'creates'} ${JSON.stringify(given)}`, async (model, real) => {
    await real.pass(1000);
    const url = `/api/detections${isSuggestion ? '/suggestions' : ''}`;
    const { status, body } = await real.orgs[org].call('POST', url, input(given));
    const entry = newEntry(body.id, isSuggestion, { name: String(input()['name']), ...given }, real.now());
    expect(status).toBe(entry === 400 ? 400 : 200);
    if (entry === 400) return;
    expect(body).toMatchObject({ ...entry.visible, createdAt: body.updatedAt, organizationId: real.orgs[org].id });
    model.entries[org].push({ ...entry, record: body });
  });
}

/** One organization takes a step with a record, its own or the other's: that one it does not find. */
function take(which: Which, name: keyof typeof steps, given: Input): Command {
  const { org, of, n, ms } = which;
  return command(`${org}: ${name} the ${n}th of ${of} ${JSON.stringify(given)}`, async (model, real) => {
    const own = model.entries[of];
    if (own.length === 0) return;
    await real.pass(ms);
    const entry = own[n % own.length]!;
    const method = ({ update: 'PUT', delete: 'DELETE' } as Record<string, 'PUT' | 'DELETE'>)[name] ?? 'POST';
    const url = at(entry.id, method === 'POST' ? name : '');
    const body = name === 'update' || name === 'accept' ? given : undefined;
    const answer = await real.orgs[org].call(method, url, body);
    if (org !== of) return void expect([name, answer.status]).toEqual([name, 404]);
    const next = steps[name](entry, real.now(), given);
    expect([name, answer.status]).toEqual([name, typeof next === 'number' ? next : 200]);
    if (typeof next === 'number') return;
    expect(answer.body).toMatchObject(next.visible);
    const before = entry.record as { updatedAt: string };
    // A step that changes nothing to be seen answers the record as it was; any other moves updatedAt forward.
    if (sees(entry, next)) expect(answer.body).toEqual(before);
    else expect(answer.body.updatedAt > before.updatedAt).toBe(true);
    own[n % own.length] = { ...next, record: answer.body };
  });
}

const sees = (a: Entry, b: Entry): boolean =>
  JSON.stringify([a.visible, a.cadence, a.custom]) === JSON.stringify([b.visible, b.cadence, b.custom]);

/** A run by hand waits until somebody deletes its detection: no worker runs here. */
function runByHand({ org, of, n }: Which): Command {
  return command(`${org}: run the ${n}th of ${of}`, async (model, real) => {
    const own = model.entries[of];
    if (own.length === 0) return;
    await real.pass(1000);
    const entry = own[n % own.length]!;
    const { isSuggestion, deletedAt } = entry.visible;
    const { status } = await real.orgs[org].call('POST', at(entry.id, 'run'), {});
    if (org !== of) return void expect(status).toBe(404);
    expect(status).toBe(isSuggestion || deletedAt || entry.manual ? 409 : 200);
    if (status === 200) own[n % own.length] = { ...entry, manual: true };
  });
}

function wait(hours: number): Command {
  return command(`${hours} h pass`, async (model, real) => {
    await real.pass(hours * 3_600_000);
    for (const own of model.entries) for (const entry of own) entry.line = planned(entry.line, real.now());
  });
}

const org = fc.constantFrom(0 as const, 1 as const);
const n = fc.nat({ max: 2 });
// Mostly its own: what is another's is always refused.
const which = fc
  .record({ org, isOwn: fc.integer({ min: 0, max: 7 }).map((one) => one > 0), n, ms: fc.constantFrom(0, 1000) })
  .map(({ org, isOwn, n, ms }): Which => ({ org, of: isOwn ? org : org === 0 ? 1 : 0, n, ms }));
const schedule = {
  detectionCadence: fc.constantFrom('hourly' as const, 'daily' as const, null),
  customCronSchedule: fc.constantFrom('5 * * * *', '10 * * * *', null),
  enabled: fc.boolean(),
};
const made = fc.record(schedule, { requiredKeys: [] });
const update = fc.record(
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

/** What each organization begins with, so that a walk need not find its way there first. */
export const seeds: Command[] = ([0, 1] as const).flatMap((org) => [
  make(org, false, { detectionCadence: 'hourly' }),
  make(org, true, { detectionCadence: 'hourly', enabled: false }),
  make(org, true, {}),
]);

export const lifeCommands = fc.commands(
  [
    fc.tuple(org, fc.boolean(), made).map((given) => make(...given)),
    fc.tuple(which, fc.constantFrom('update' as const, 'accept' as const), update).map((given) => take(...given)),
    fc.tuple(which, fc.constantFrom('accept', 'dismiss', 'delete', 'restore')).map(([of, name]) => take(of, name, {})),
    fc.tuple(which, fc.constantFrom('delete', 'restore')).map(([of, name]) => take(of, name, {})),
    which.map(runByHand),
    fc.integer({ min: 1, max: 30 }).map(wait),
  ],
  { maxCommands: 40, size: 'max' },
);
