import { forgetViews } from '../items/snapshot/snapshot.ts';
import type { Deps } from '../../app/deps.ts';
import { acrossOrgs, inOrg, type Tx } from '../../platform/db/db.ts';
import { checkIfMatch, etagOf } from '../../platform/http/etag.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { pageOf, pageRequest, type PageQuery } from '../../platform/lib/page-request.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { nextSlot, parseCron } from '../../platform/lib/cron/cron.ts';
import { knownSources } from './catalog.ts';
import type { PullResult } from '../ingestion/pull-plan.ts';
import { pullClaimed } from './pull/pull-source.ts';
import { scheduleOf } from './source-schedule.ts';
import type { CreateSource, Source, SourceList, UpdateSource } from './sources.schema.ts';
import { changedAuth } from './source-auth.ts';
import { checkSchedule, checkUrl, storedTlp } from './source-input.ts';
import { requireAdmin, toSource } from './source-view.ts';
import type { Cursor, SourceRow } from './source-row.ts';
import {
  claimSource,
  countSources,
  findSource,
  insertSource,
  listSourceRows,
  lockSource,
  markSourceDeleted,
  readSource,
  updateSourceRow,
  type NewSource,
} from './sources.store.ts';
import { tightenItems } from './pull/raise-tlp.ts';
import { sourceFormats, type SourceKind } from '../formats/registry.ts';
import {
  inSourceAcrossOrgs,
  insertAssignedPool,
  privatePool,
  publicPool,
  updateAssignedPool,
} from '../items/writing/feed-pools.store.ts';

const sourcesMax = 1_000;

/** The command line, which may name files and acts for the installation. */
const isCommandLine = (caller: Caller): boolean => caller.keyId === null;

/**
 * Makes a source; it is first pulled at its first slot. What an organization makes is private; `shared` and `assignedTo` need feed:admin.
 * Throws a 400 that names the field.
 */
export async function createSource(deps: Deps, caller: Caller, given: CreateSource): Promise<Source> {
  const input = completed(given);
  const { defaults } = sourceFormats[input.kind];
  const visibility = input.visibility ?? 'private';
  if (visibility === 'shared') requireAdmin(caller);
  if (visibility === 'private' && input.assignedTo)
    throw fieldError('/assignedTo', 'not_shared', 'assignedTo belongs to a shared source.');
  const file_allowed = await checkUrl(input.url, {
    trusted: isCommandLine(caller),
    fileSources: deps.config.fileSources,
  });
  const schedule = input.schedule ? checkSchedule(input.schedule) : null;
  const now = deps.clock();
  const enabled = input.enabled ?? true;
  const ref = { organization_id: caller.orgId, id: uuidv7(now) };
  const fresh: Omit<NewSource, 'pool_id'> = {
    ...ref,
    visibility,
    assigned_to: input.assignedTo ?? null,
    kind: input.kind,
    name: input.name,
    url: input.url,
    file_allowed,
    publisher: input.publisher ?? null,
    tlp: input.tlp ? storedTlp(input.tlp) : null,
    license: input.license ?? null,
    reliability: input.reliability ?? defaults.reliability,
    schedule,
    enabled,
    include: JSON.stringify(input.include ?? []),
    exclude: JSON.stringify(input.exclude ?? []),
    next_pull_at: enabled ? nextSlot(parseCron(schedule ?? defaults.schedule), now) : null,
    sealed_auth: changedAuth(
      deps.secrets,
      { ...ref, url: input.url, sealed_auth: null },
      { auth: input.auth, url: input.url },
    ),
    created_at: now,
  };
  return inSourceAcrossOrgs(deps.db, fresh, async (tx) => {
    if ((await countSources(tx, caller.orgId)) >= sourcesMax)
      throw appError('conflict', `An organization has at most ${sourcesMax} sources.`);
    await insertSource(tx, { ...fresh, pool_id: await poolOf(tx, fresh) });
    const made = toSource(await readSource(tx, fresh), caller, now);
    await insertAudit(tx, caller, {
      action: 'source.created',
      resourceType: 'source',
      resourceId: fresh.id,
      before: null,
      after: made,
    });
    return made;
  });
}

/** What the catalogue knows of a source, under what is given. */
function completed({ catalogue, ...given }: CreateSource): Omit<CreateSource, 'catalogue'> & Named {
  if (catalogue === undefined) return given as Omit<CreateSource, 'catalogue'> & Named;
  const known = Object.hasOwn(knownSources, catalogue) ? knownSources[catalogue] : undefined;
  if (!known) throw fieldError('/catalogue', 'unknown', `The catalogue has no source "${catalogue.slice(0, 100)}".`);
  const { title, ...rest } = known;
  return { ...rest, name: `${known.publisher}: ${title}`, ...given } as Omit<CreateSource, 'catalogue'> & Named;
}
type Named = { kind: SourceKind; name: string; url: string };

async function poolOf(tx: Tx, source: Omit<NewSource, 'pool_id'>): Promise<string> {
  if (source.visibility === 'private') return privatePool(tx, source.organization_id, uuidv7());
  if (source.assigned_to === null) return publicPool;
  const id = uuidv7();
  await insertAssignedPool(tx, source.organization_id, id, source.assigned_to);
  return id;
}

/** The organization's own sources and the shared ones that it sees, newest first. */
export async function listSources(deps: Deps, caller: Caller, query: PageQuery): Promise<SourceList> {
  const { limit, after } = pageRequest(query);
  const found = await inOrg(deps.db, caller.orgId, (tx) => listSourceRows(tx, limit, after));
  const { page, nextCursor } = pageOf(found, limit, (source) => ({ at: source.created_at, id: source.id }));
  return { sources: page.map((source) => toSource(source, caller, deps.clock())), nextCursor };
}

/** Throws not_found for a source that is not there or that the organization does not see. */
export async function getSource(deps: Deps, caller: Caller, id: string): Promise<Source> {
  return toSource(await visibleSource(deps, caller, id), caller, deps.clock());
}

/** Changes what is given; null takes a value back to the default of the kind.
 * A stricter `tlp` holds for every item of the source once this returns. 412 where `ifMatch` (RFC 9110) names another version. */
export async function updateSource(
  deps: Deps,
  caller: Caller,
  id: string,
  { change: input, ifMatch }: { change: UpdateSource; ifMatch?: string | undefined },
): Promise<Source> {
  const url = input.url;
  const fileAllowed = url === undefined ? undefined : await urlOf(deps, caller, id, url);
  let tightened: SourceRow | undefined;
  const updated = await writable(deps, caller, id, async (tx, before) => {
    const now = deps.clock();
    checkIfMatch(ifMatch, etagOf({ updatedAt: before.updated_at.toISOString() }));
    checkFixed(before, input);
    const sealedAuth = changedAuth(deps.secrets, before, { auth: input.auth, url: url ?? before.url });
    const after = changed(before, input, { fileAllowed, sealedAuth, now });
    if (JSON.stringify(after) === JSON.stringify(before)) return toSource(before, caller, now);
    after.updated_at = new Date(Math.max(now.getTime(), before.updated_at.getTime() + 1));
    await updateSourceRow(tx, after);
    if (after.tlp !== before.tlp) tightened = after;
    if (after.assigned_to !== null) await updateAssignedPool(tx, after.pool_id, after.assigned_to);
    const [old, made] = [toSource(before, caller, now), toSource(await readSource(tx, before), caller, now)];
    await insertAudit(tx, caller, {
      action: 'source.updated',
      resourceType: 'source',
      resourceId: id,
      before: old,
      after: made,
    });
    return made;
  });
  if (tightened) await tightenItems(deps, tightened);
  return updated;
}

/** An address that did not change was checked when it came; GET's answer can be PUT back. */
async function urlOf(deps: Deps, caller: Caller, id: string, url: string): Promise<boolean | undefined> {
  const held = await visibleSource(deps, caller, id);
  if (held.url === url) return held.file_allowed;
  return checkUrl(url, { trusted: isCommandLine(caller), fileSources: deps.config.fileSources });
}

function checkFixed(before: SourceRow, input: UpdateSource): void {
  for (const name of ['kind', 'visibility'] as const) {
    if (input[name] !== undefined && input[name] !== before[name])
      throw fieldError(`/${name}`, 'read_only', `${name} cannot change; make another source.`);
  }
  // Items would have to change their audience; only the list itself may.
  if (input.assignedTo !== undefined && (input.assignedTo === null) !== (before.assigned_to === null))
    throw fieldError(
      '/assignedTo',
      'read_only',
      'assignedTo cannot change between a list and all; make another source.',
    );
}

function changed(
  before: SourceRow,
  input: UpdateSource,
  { fileAllowed, sealedAuth, now }: { fileAllowed: boolean | undefined; sealedAuth: Buffer | null; now: Date },
): SourceRow {
  const { defaults } = sourceFormats[before.kind];
  const given = <T>(value: T | undefined, old: T): T => (value === undefined ? old : value);
  const after: SourceRow = {
    ...before,
    name: given(input.name, before.name),
    url: given(input.url, before.url),
    file_allowed: given(fileAllowed, before.file_allowed),
    publisher: given(input.publisher, before.publisher),
    tlp: input.tlp ? storedTlp(input.tlp) : given(input.tlp as null | undefined, before.tlp),
    license: given(input.license, before.license),
    reliability: given(input.reliability, before.reliability),
    schedule: input.schedule
      ? checkSchedule(input.schedule)
      : given(input.schedule as null | undefined, before.schedule),
    enabled: given(input.enabled, before.enabled),
    include: input.include ? JSON.stringify(input.include) : before.include,
    exclude: input.exclude ? JSON.stringify(input.exclude) : before.exclude,
    assigned_to: given(input.assignedTo, before.assigned_to),
    sealed_auth: sealedAuth,
  };
  // GET shows the default where none is set; sent back it is no wish for that very text.
  if (before.schedule === null && after.schedule === defaults.schedule) after.schedule = null;
  if (JSON.stringify(after) === JSON.stringify(before)) return after;
  const { reading: _reading, ...cursor } = JSON.parse(before.cursor) as Cursor;
  after.cursor = JSON.stringify(cursor);
  // A marking that tightens must not wait for the next slot.
  const tightens = after.tlp !== before.tlp && before.last_success_at !== null;
  after.next_pull_at = !after.enabled ? null : tightens ? now : nextSlot(parseCron(scheduleOf(after)), now);
  return after;
}

/** The source is gone; the items that it brought stay. */
export async function deleteSource(deps: Deps, caller: Caller, id: string): Promise<Source> {
  return writable(deps, caller, id, async (tx, before) => {
    const old = toSource(before, caller, deps.clock());
    await markSourceDeleted(tx, before, deps.clock());
    await insertAudit(tx, caller, {
      action: 'source.deleted',
      resourceType: 'source',
      resourceId: id,
      before: old,
      after: null,
    });
    return old;
  });
}

/** Pulls a source at once, a disabled one too; answers when it is done. 409 while another pull of it runs. */
export async function pullSource(deps: Deps, caller: Caller, id: string): Promise<PullResult> {
  const worker = uuidv7();
  const claimed = await writable(deps, caller, id, (tx, source) => claimSource(tx, source, worker));
  const result = claimed && (await pullClaimed(deps, claimed, { scheduled: false }));
  if (!result) throw appError('in_progress', 'This source is being pulled.');
  return result;
}

async function visibleSource(deps: Deps, caller: Caller, id: string): Promise<SourceRow> {
  const found = await inOrg(deps.db, caller.orgId, (tx) => findSource(tx, id));
  if (!found) throw appError('not_found', `Source ${id} not found`);
  return found;
}

/** Runs `work` on a source that the caller may change, locked: its own; a shared one only with feed:admin. */
async function writable<T>(
  deps: Deps,
  caller: Caller,
  id: string,
  work: (tx: Tx, source: SourceRow) => Promise<T>,
): Promise<T> {
  const visible = await visibleSource(deps, caller, id);
  if (visible.visibility === 'shared') requireAdmin(caller);
  const locked = async (tx: Tx): Promise<T> => {
    const source = await lockSource(tx, visible);
    if (!source) throw appError('not_found', `Source ${id} not found`);
    return work(tx, source);
  };
  const result = await (visible.visibility === 'private'
    ? inOrg(deps.db, caller.orgId, locked)
    : acrossOrgs(deps.db, locked));
  forgetViews(deps.db);
  return result;
}
