import type { Db, Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { nextSlot, parseCron } from '../../platform/lib/time/cron.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { Secretbox } from '../../platform/lib/secretbox.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { requireQuota } from '../../platform/orgs/limits/quotas.ts';
import { sourceFormats, type SourceKind } from '../formats/registry.ts';
import { toStoredTlp } from '../model/vocabulary.ts';
import { ensurePrivatePool, insertAssignedPool, publicPoolId } from '../items/writing/feed-pools.store.ts';
import { findCatalogSource } from './catalog.ts';
import { auditSource, requireAdmin } from './source-access.ts';
import { resolveSealedAuth } from './source-auth.ts';
import { toSource } from './source-view.ts';
import type { CreateSource, Source } from './sources.schema.ts';
import { countSources, insertSource, readSource, withSourceAcrossOrgs, type NewSource } from './sources.store.ts';
import { normalizeSchedule, validateUrl } from './source-settings.ts';

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
