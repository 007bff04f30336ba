import type { Clock } from '../../platform/lib/time/clock.ts';
import { nextSlot, parseCron } from '../../platform/lib/time/cron.ts';
import { fieldError, appError } from '../../platform/lib/errors.ts';
import type { Secretbox } from '../../platform/lib/secretbox.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { requireMatch } from '../../platform/orgs/record-version.ts';
import { sourceFormats, type SourceKind } from '../formats/registry.ts';
import type { PullCursor, SourceRow } from '../ingestion/source-row.ts';
import { toStoredTlp } from '../model/vocabulary.ts';
import {
  updateAssignedPool,
  ensurePrivatePool,
  insertAssignedPool,
  publicPoolId,
} from '../items/writing/feed-pools.store.ts';
import { raiseTlp, type RaiseTlpDeps } from './pull/raise-tlp.ts';
import { auditSource, changeSource, getVisibleSource, requireAdmin, toSource } from './source-access.ts';
import { resolveSealedAuth } from './source-auth.ts';
import { checkSightings, effectiveSchedule, normalizeSchedule, validateUrl } from './source-settings.ts';
import type { Source, SourceSightings, UpdateSource, CreateSource } from './sources.schema.ts';
import {
  markSourceDeleted,
  readSource,
  updateSourceRow,
  countSources,
  insertSource,
  withSourceAcrossOrgs,
  type NewSource,
} from './sources.store.ts';
import type { Db, Tx } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { requireQuota } from '../../platform/orgs/limits/quotas.ts';
import { findCatalogSource } from './catalog.ts';

export type UpdateSourceDeps = RaiseTlpDeps & { clock: Clock; secrets: Secretbox; config: { fileSources: string[] } };

/**
 * Updates the given fields of a source. null resets a field to the default of the source kind. A stricter `tlp` applies to all items of the
 * source when this returns. Throws a 412 if `ifMatch` (RFC 9110) does not match the current version.
 */
export async function updateSource(
  deps: UpdateSourceDeps,
  caller: Caller,
  id: string,
  { change: input, ifMatch }: { change: UpdateSource; ifMatch?: string | undefined },
): Promise<Source> {
  const fileAllowed = input.url === undefined ? undefined : await checkNewUrl(deps, caller, id, input.url);
  let remarked: SourceRow | undefined;
  const updated = await changeSource(deps, caller, id, async (tx, before) => {
    const now = deps.clock();
    const version = { updatedAt: before.updated_at.toISOString() };
    await requireMatch(tx, ifMatch, version, { resourceType: 'source', resourceId: id });
    checkFixedFields(before, input);
    const sealedAuth = resolveSealedAuth(deps.secrets, before, { auth: input.auth, url: input.url ?? before.url });
    const after = applyChange(before, input, { fileAllowed, sealedAuth, now });
    if (JSON.stringify(after) === JSON.stringify(before)) return toSource(before, caller, now);
    checkSightings(after, after.sightings === null ? null : (JSON.parse(after.sightings) as SourceSightings));
    after.updated_at = new Date(Math.max(now.getTime(), before.updated_at.getTime() + 1));
    await updateSourceRow(tx, after);
    if (after.tlp !== before.tlp) remarked = after;
    if (after.assigned_to !== null) await updateAssignedPool(tx, after.pool_id, after.assigned_to);
    const source = toSource(await readSource(tx, before), caller, now);
    const previous = toSource(before, caller, now);
    await auditSource(tx, caller, { action: 'source.updated', before: previous, after: source });
    return source;
  });
  if (remarked) await raiseTlp(deps, remarked);
  return updated;
}

/** Validates an address unless it is the current one, so that the response of a GET can be sent back in a PUT. */
async function checkNewUrl(
  deps: UpdateSourceDeps,
  caller: Caller,
  id: string,
  url: string,
): Promise<boolean | undefined> {
  const source = await getVisibleSource(deps, caller, id);
  if (source.url === url) return source.file_allowed;
  return validateUrl(url, { isTrusted: caller.isOperator === true, fileSources: deps.config.fileSources });
}

const readOnlyError = (name: string, ...details: string[]): Error =>
  fieldError(`/${name}`, 'read_only', `${[`\`${name}\` cannot change`, ...details].join(' ')}. Create another source.`);

function checkFixedFields(before: SourceRow, input: UpdateSource): void {
  for (const name of ['kind', 'visibility'] as const) {
    if (input[name] !== undefined && input[name] !== before[name]) throw readOnlyError(name);
  }
  // The list may change, but switching between a list and all organizations would change the pool of the items.
  if (input.assignedTo !== undefined && (input.assignedTo === null) !== (before.assigned_to === null))
    throw readOnlyError('assignedTo', 'between a list and null');
}

function applyChange(
  before: SourceRow,
  input: UpdateSource,
  { fileAllowed, sealedAuth, now }: { fileAllowed: boolean | undefined; sealedAuth: Buffer | null; now: Date },
): SourceRow {
  const { defaults } = sourceFormats[before.kind];
  const orBefore = <T>(value: T | undefined, previous: T): T => (value === undefined ? previous : value);
  const after: SourceRow = {
    ...before,
    name: orBefore(input.name, before.name),
    url: orBefore(input.url, before.url),
    file_allowed: orBefore(fileAllowed, before.file_allowed),
    publisher: orBefore(input.publisher, before.publisher),
    tlp: input.tlp ? toStoredTlp(input.tlp) : orBefore(input.tlp as null | undefined, before.tlp),
    license: orBefore(input.license, before.license),
    reliability: orBefore(input.reliability, before.reliability),
    schedule: input.schedule
      ? normalizeSchedule(input.schedule)
      : orBefore(input.schedule as null | undefined, before.schedule),
    enabled: orBefore(input.enabled, before.enabled),
    include: input.include ? JSON.stringify(input.include) : before.include,
    exclude: input.exclude ? JSON.stringify(input.exclude) : before.exclude,
    sightings: input.sightings ? JSON.stringify(input.sightings) : orBefore(input.sightings, before.sightings),
    assigned_to: orBefore(input.assignedTo, before.assigned_to),
    sealed_auth: sealedAuth,
  };
  // GET returns the default schedule if none is set. Sent back in a PUT, it does not set that schedule.
  if (before.schedule === null && after.schedule === defaults.schedule) after.schedule = null;
  if (JSON.stringify(after) === JSON.stringify(before)) return after;
  const { reading: _reading, ...cursor } = JSON.parse(before.cursor) as PullCursor;
  after.cursor = JSON.stringify(cursor);
  after.next_pull_at = nextPullAfterChange(before, after, now);
  return after;
}

function nextPullAfterChange(before: SourceRow, after: SourceRow, now: Date): Date | null {
  if (!after.enabled) return null;
  // A changed marking must not wait for the next slot.
  if (after.tlp !== before.tlp && before.last_success_at !== null) return now;
  return nextSlot(parseCron(effectiveSchedule(after)), now);
}

/** Deletes a source. Its items remain. */
export async function deleteSource(deps: UpdateSourceDeps, caller: Caller, id: string): Promise<Source> {
  return changeSource(deps, caller, id, async (tx, before) => {
    const deleted = toSource(before, caller, deps.clock());
    await markSourceDeleted(tx, before, deps.clock());
    await auditSource(tx, caller, { action: 'source.deleted', before: deleted, after: null });
    return deleted;
  });
}

const sourcesMax = 1_000;

export type CreateSourceDeps = { db: Db; clock: Clock; secrets: Secretbox; config: { fileSources: string[] } };

/**
 * Creates a source. Its first pull is at its first slot. Shared sources, and therefore `assignedTo`, need `feed:admin`.
 * Throws a 400 with the field that is not valid, and 409 if the quota is used up.
 */
export async function createSource(deps: CreateSourceDeps, caller: Caller, input: CreateSource): Promise<Source> {
  const now = deps.clock();
  const source = await toNewSource(deps, caller, applyCatalog(input), now);
  return withSourceAcrossOrgs(deps.db, source, async (tx) => {
    await requireQuota(tx, caller.orgId, 'feedSources', () => countSources(tx, caller.orgId));
    if ((await countSources(tx, caller.orgId)) >= sourcesMax)
      throw appError('conflict', `An organization has at most ${sourcesMax} sources.`);
    await insertSource(tx, { ...source, pool_id: await ensurePool(tx, source) });
    const created = toSource(await readSource(tx, source), caller, now);
    await auditSource(tx, caller, { action: 'source.created', before: null, after: created });
    return created;
  });
}

type CompleteInput = Omit<CreateSource, 'catalogue'> & { kind: SourceKind; name: string; url: string };

/** Fills omitted fields from the catalog entry. */
function applyCatalog({ catalogue, ...input }: CreateSource): CompleteInput {
  if (catalogue === undefined) return input as CompleteInput;
  const { title, brings: _brings, sample: _sample, ...fields } = findCatalogSource(catalogue);
  return { ...fields, name: `${fields.publisher}: ${title}`, ...input } as CompleteInput;
}

async function toNewSource(
  deps: CreateSourceDeps,
  caller: Caller,
  input: CompleteInput,
  now: Date,
): Promise<Omit<NewSource, 'pool_id'>> {
  const { defaults } = sourceFormats[input.kind];
  const visibility = input.visibility ?? 'private';
  if (visibility === 'shared') requireAdmin(caller);
  if (visibility === 'private' && input.assignedTo)
    throw fieldError('/assignedTo', 'not_shared', '`assignedTo` is only valid for a shared source.');
  checkSightings({ ...input, visibility }, input.sightings);
  const { fileSources } = deps.config;
  const fileAllowed = await validateUrl(input.url, { isTrusted: caller.isOperator === true, fileSources });
  const schedule = input.schedule ? normalizeSchedule(input.schedule) : null;
  const enabled = input.enabled ?? true;
  const key = { organization_id: caller.orgId, id: uuidv7(now) };
  const noAuth = { ...key, url: input.url, sealed_auth: null };
  return {
    ...key,
    visibility,
    assigned_to: input.assignedTo ?? null,
    sightings: input.sightings ? JSON.stringify(input.sightings) : null,
    kind: input.kind,
    name: input.name,
    url: input.url,
    file_allowed: fileAllowed,
    publisher: input.publisher ?? null,
    tlp: input.tlp ? toStoredTlp(input.tlp) : null,
    license: input.license ?? null,
    reliability: input.reliability ?? defaults.reliability,
    schedule,
    enabled,
    include: JSON.stringify(input.include ?? []),
    exclude: JSON.stringify(input.exclude ?? []),
    next_pull_at: enabled ? nextSlot(parseCron(schedule ?? defaults.schedule), now) : null,
    sealed_auth: resolveSealedAuth(deps.secrets, noAuth, { auth: input.auth, url: input.url }),
    created_at: now,
  };
}

async function ensurePool(tx: Tx, source: Omit<NewSource, 'pool_id'>): Promise<string> {
  if (source.visibility === 'private') return ensurePrivatePool(tx, source.organization_id, uuidv7());
  if (source.assigned_to === null) return publicPoolId;
  const id = uuidv7();
  await insertAssignedPool(tx, source.organization_id, id, source.assigned_to);
  return id;
}
