import { z } from 'zod';
import { inOrg, type Db } from '../db/db.ts';
import { appError, fieldError } from '../lib/errors.ts';
import { uuidv7 } from '../lib/ids.ts';
import { describeFields, parseFields } from '../lib/kind-fields.ts';
import type { OrgId } from '../lib/org-id.ts';
import { validateOutboundUrl } from '../lib/outbound-http/addresses.ts';
import { openJson, sealJson, type SealedColumn, type Secretbox } from '../lib/secretbox.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { Caller } from '../http/caller.ts';
import { requireMatch } from '../orgs/record-version.ts';
import { insertAudit } from '../orgs/audit.store.ts';
import { enricherKindOf, type EnricherKindDefinition, enricherKindNames } from './enricher-kinds.ts';
import { deleteEnricher, listEnrichers, lockEnricher, upsertEnricher, type EnricherRow } from './enrichers.store.ts';
import { boundedString } from '../lib/text/bounded-text.ts';

const limits = {
  perMinute: z.int().min(1).max(6_000).describe('Look-ups per minute at most.'),
  perDay: z.int().min(1).max(1_000_000).describe('Look-ups per day (UTC) at most.'),
  cacheHours: z.int().min(1).max(8_760).describe('How long an answer is used again.'),
  costUsd: z.number().min(0).max(100).describe('What a look-up costs, in US dollars.'),
};

export const EnricherPath = z.object({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_.-]{0,99}$/, 'must be 1 to 100 lower-case letters, digits, dots, dashes or underscores'),
});

export const EnricherInput = z.strictObject({
  kind: z.enum(enricherKindNames),
  settings: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('Settings of the kind, as `kinds` of the list describes them.'),
  credentials: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'Credentials of the kind. Stored encrypted and never returned. Absent: the stored ones remain, unless the host changes.',
    ),
  perMinute: limits.perMinute.default(60),
  perDay: limits.perDay.default(1_000),
  cacheHours: limits.cacheHours.default(24),
  costUsd: limits.costUsd.default(0),
  enabled: z.boolean().default(true),
});
export type EnricherInput = z.infer<typeof EnricherInput>;

const time = z.string().describe('ISO 8601, UTC, with milliseconds.');

export const Enricher = z
  .object({
    name: z.string(),
    kind: z.enum(enricherKindNames),
    settings: z.record(z.string(), z.unknown()),
    hasCredentials: z.boolean(),
    ...limits,
    enabled: z.boolean(),
    usedToday: z.int().describe('Look-ups since midnight UTC, without those answered from earlier ones.'),
    failure: z.string().nullable().describe('Why the last look-up got no answer. Null: it got one.'),
    updatedAt: time,
  })
  .meta({ id: 'Enricher' });
export type Enricher = z.infer<typeof Enricher>;

const FieldSchema = z.record(z.string(), z.unknown()).describe('JSON schema of the fields.');

export const EnricherList = z.object({
  enrichers: z.array(Enricher),
  kinds: z
    .array(
      z
        .object({
          kind: z.enum(enricherKindNames),
          label: z.string(),
          description: z.string(),
          settings: FieldSchema,
          credentials: FieldSchema,
        })
        .meta({ id: 'EnricherKind' }),
    )
    .describe('The kinds that can be added.'),
});
export type EnricherList = z.infer<typeof EnricherList>;

export const LookUpValues = z.strictObject({
  values: z
    .array(boundedString({ min: 1, max: 500 }))
    .min(1)
    .max(20)
    .describe('Public addresses, domains and hashes. Others are left out.'),
});

export const EnrichmentList = z.object({
  enrichments: z.array(
    z
      .object({
        enricher: z.string().describe('Name of the enricher. `geo`: the databases of addresses.'),
        value: z.string(),
        fields: z
          .record(z.string(), z.union([z.string(), z.number()]))
          .describe('What the other party states. Unverified.'),
        at: time.describe('When it was looked up.'),
        costUsd: z.number().describe('What that cost.'),
      })
      .meta({ id: 'Enrichment' }),
  ),
});
export type EnrichmentList = z.infer<typeof EnrichmentList>;

export type EnricherDeps = {
  db: Db;
  clock: Clock;
  secrets: Secretbox;
  config: { fetchAllow: readonly string[] };
};

const enrichersMax = 20;
const kind = 'enricher';
export const enricherSecretsColumn: SealedColumn = { table: 'enrichers', column: 'sealed', kind };

export async function getEnrichers({ db, clock }: EnricherDeps, { orgId }: Caller): Promise<EnricherList> {
  const rows = await inOrg(db, orgId, (tx) => listEnrichers(tx, orgId));
  return { enrichers: rows.map((row) => toEnricher(row, clock())), kinds };
}

const kinds = enricherKindNames.map((name) => {
  const { label, description, settings, credentials } = enricherKindOf(name);
  return {
    kind: name,
    label,
    description,
    settings: describeFields(settings),
    credentials: describeFields(credentials),
  };
});

/** Creates or replaces an enricher. Throws 400 for settings that the kind does not have, 409 above 20, and 412 if `ifMatch` is not the current ETag. */
export async function putEnricher(
  deps: EnricherDeps,
  caller: Caller,
  name: string,
  { ifMatch, ...input }: EnricherInput & { ifMatch?: string | undefined },
): Promise<Enricher> {
  const { orgId } = caller;
  const definition = enricherKindOf(input.kind);
  const settings = parseFields(definition.settings, input.settings, '/settings');
  const origin = definition.originOf(settings);
  if (origin !== null) requireReachable(origin, deps.config.fetchAllow);
  const now = deps.clock();
  return inOrg(deps.db, orgId, async (tx) => {
    const before = await lockEnricher(tx, orgId, name);
    if (ifMatch !== undefined) {
      if (!before) throw appError('not_found', `Enricher ${name} not found.`);
      const resource = { resourceType: 'enricher', resourceId: before.id, fields: { name } };
      await requireMatch(tx, ifMatch, toEnricher(before, now), resource);
    }
    if (!before && (await listEnrichers(tx, orgId)).length >= enrichersMax)
      throw appError('conflict', `An organization can have at most ${enrichersMax} enrichers.`);
    const id = before?.id ?? uuidv7(now);
    const record = { organization_id: orgId, id };
    const credentials = input.credentials && parseFields(definition.credentials, input.credentials, '/credentials');
    const sealed =
      credentials === undefined
        ? keepCredentials(before, origin)
        : Object.keys(credentials).length === 0
          ? null
          : sealJson(deps.secrets, kind, record, credentials);
    const stored = await upsertEnricher(tx, {
      ...record,
      name,
      kind: input.kind,
      settings: JSON.stringify(settings),
      sealed,
      per_minute: input.perMinute,
      per_day: input.perDay,
      cache_hours: input.cacheHours,
      cost_usd: input.costUsd,
      enabled: input.enabled,
      updated_at: now,
    });
    await insertAudit(tx, caller, {
      action: before ? 'enricher.changed' : 'enricher.created',
      resourceType: 'enricher',
      resourceId: id,
      before: before ? toEnricher(before, now) : null,
      after: toEnricher(stored, now),
    });
    return toEnricher(stored, now);
  });
}

/** Deletes an enricher with its answers, and returns it. Throws 404. */
export function removeEnricher({ db, clock }: EnricherDeps, caller: Caller, name: string): Promise<Enricher> {
  return inOrg(db, caller.orgId, async (tx) => {
    const row = await lockEnricher(tx, caller.orgId, name);
    if (!row) throw appError('not_found', `Enricher ${name} not found.`);
    await deleteEnricher(tx, row);
    const before = toEnricher(row, clock());
    await insertAudit(tx, caller, {
      action: 'enricher.deleted',
      resourceType: 'enricher',
      resourceId: row.id,
      before,
      after: null,
    });
    return before;
  });
}

const originOf = (row: EnricherRow): string | null => enricherKindOf(row.kind).originOf(JSON.parse(row.settings));

/** Returns the stored credentials for the same origin, so that they are never sent elsewhere, or null for a kind that sends none. Throws 400 if new ones are required. */
function keepCredentials(before: EnricherRow | undefined, origin: string | null): Buffer | null {
  if (!before?.sealed || origin === null) return null;
  if (originOf(before) !== origin)
    throw fieldError('/credentials', 'required', 'credentials must be sent again because the host changes.');
  return before.sealed;
}

function requireReachable(origin: string, allow: readonly string[]): void {
  try {
    validateOutboundUrl(`${origin}/`, allow);
  } catch (error) {
    throw fieldError('/settings/url', 'invalid_url', error instanceof Error ? error.message : String(error));
  }
}

/** An enricher that is ready to look up values. */
export type ActiveEnricher = { row: EnricherRow; definition: EnricherKindDefinition; settings: Enricher['settings'] };

/** Returns the enrichers of an organization that are on. */
export async function listActiveEnrichers(db: Db, orgId: OrgId): Promise<ActiveEnricher[]> {
  const rows = await inOrg(db, orgId, (tx) => listEnrichers(tx, orgId));
  return rows.flatMap((row) =>
    row.enabled
      ? [{ row, definition: enricherKindOf(row.kind), settings: JSON.parse(row.settings) as Enricher['settings'] }]
      : [],
  );
}

export const openCredentials = (secrets: Secretbox, { sealed, ...row }: EnricherRow): Record<string, unknown> =>
  sealed === null ? {} : openJson(secrets, kind, row, sealed);

const toEnricher = (row: EnricherRow, now: Date): Enricher => ({
  name: row.name,
  kind: row.kind,
  settings: JSON.parse(row.settings) as Enricher['settings'],
  hasCredentials: row.sealed !== null,
  perMinute: row.per_minute,
  perDay: row.per_day,
  cacheHours: row.cache_hours,
  costUsd: row.cost_usd,
  enabled: row.enabled,
  usedToday: row.day === now.toISOString().slice(0, 10) ? row.day_used : 0,
  failure: row.failure,
  updatedAt: row.updated_at.toISOString(),
});
