import { inOrg, type Db } from '../db/db.ts';
import { ExternalError } from '../lib/external-error.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { Secretbox } from '../lib/secretbox.ts';
import type { Clock } from '../lib/time/clock.ts';
import { findValueType, type EnrichmentFields } from './enricher-kinds.ts';
import { listActiveEnrichers, openCredentials, type ActiveEnricher } from './enrichers.ts';
import { findEnrichments, storeEnrichment, takeLookUp, type StoredEnrichment } from './enrichers.store.ts';
import { findAddressFacts, hasGeoDatabases } from './geo-databases.ts';

/** What an enricher knows of a value. `at` is when it was looked up, so that a reader sees its age, and `costUsd` what that cost. */
export type Enrichment = { enricher: string; value: string; fields: EnrichmentFields; at: Date; costUsd: number };

/** Looks up values for an organization. `isOn` returns whether it has an enricher at all. */
export type Enrich = {
  isOn: (orgId: OrgId) => Promise<boolean>;
  lookUp: (orgId: OrgId, values: readonly string[], signal: AbortSignal) => Promise<Enrichment[]>;
};

type EnrichDeps = { db: Db; clock: Clock; secrets: Secretbox; config: { fetchAllow: readonly string[] } };

const atOnce = 4;
const retryMs = 10 * 60_000;
const hourMs = 3_600_000;

/**
 * Creates the enrichers: the databases of addresses, and those that organizations set up. A look-up that fails, that a limit does not allow, or for which
 * the time of the signal does not suffice, returns nothing. One that failed is repeated after ten minutes at the earliest.
 */
export const createEnrich = (deps: EnrichDeps): Enrich => ({
  isOn: async (orgId) => hasGeoDatabases() || (await listActiveEnrichers(deps.db, orgId)).length > 0,
  lookUp: async (orgId, given, signal) => {
    const values = [...new Set(given)];
    const local = values.flatMap((value): Enrichment[] => {
      const facts = findAddressFacts(value);
      return facts ? [{ enricher: 'geo', value, fields: { ...facts }, at: deps.clock(), costUsd: 0 }] : [];
    });
    return [...local, ...(await lookUpOutside(deps, orgId, values, signal))];
  },
});

async function lookUpOutside(
  deps: EnrichDeps,
  orgId: OrgId,
  values: readonly string[],
  signal: AbortSignal,
): Promise<Enrichment[]> {
  const enrichers = await listActiveEnrichers(deps.db, orgId);
  const wanted = enrichers.flatMap((enricher) =>
    values.flatMap((value) => {
      const type = findValueType(value);
      return type && enricher.definition.typesOf(enricher.settings).includes(type) ? [{ enricher, value }] : [];
    }),
  );
  if (wanted.length === 0) return [];
  const ids = enrichers.map(({ row }) => row.id);
  const known = await inOrg(deps.db, orgId, (tx) => findEnrichments(tx, orgId, { ids, values, now: deps.clock() }));
  const failing = new Set<string>();
  const find = async ({ enricher, value }: (typeof wanted)[number]): Promise<Enrichment[]> => {
    const { id, name, cost_usd: costUsd } = enricher.row;
    const stored = known.find((one) => one.enricherId === id && one.value === value);
    // An enricher that does not answer would delay each further value as well.
    if (!stored && (failing.has(id) || isOutOfTime(signal))) return [];
    const answer = stored ? toAnswer(stored) : await ask(deps, enricher, value, signal);
    if (answer?.failure) failing.add(id);
    if (!answer || Object.keys(answer.fields).length === 0) return [];
    return [{ enricher: name, value, fields: answer.fields, at: answer.at, costUsd }];
  };
  const found: Enrichment[] = [];
  for (let start = 0; start < wanted.length; start += atOnce)
    found.push(...(await Promise.all(wanted.slice(start, start + atOnce).map(find))).flat());
  return found;
}

const isOutOfTime = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && reason instanceof DOMException && reason.name === 'TimeoutError';

type Answer = { fields: EnrichmentFields; at: Date; failure: string | null };

const toAnswer = ({ fields, at }: StoredEnrichment): Answer => ({
  fields: JSON.parse(fields) as EnrichmentFields,
  at,
  failure: null,
});

/** Asks an enricher about a value and stores the answer. Returns undefined if a limit does not allow it, or if the time is over. */
async function ask(
  deps: EnrichDeps,
  { row, definition, settings }: ActiveEnricher,
  value: string,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const at = deps.clock();
  if (!(await inOrg(deps.db, row.organization_id, (tx) => takeLookUp(tx, row, at)))) return undefined;
  const credentials = openCredentials(deps.secrets, row);
  const answer = await definition
    .lookUp(value, { settings, credentials, allow: deps.config.fetchAllow, signal })
    .then((fields) => ({ fields, failure: null }))
    .catch((error: unknown) => {
      if (isOutOfTime(signal)) return undefined;
      signal.throwIfAborted();
      if (!(error instanceof ExternalError)) throw error;
      return { fields: {}, failure: error.message.slice(0, 500) };
    });
  if (!answer) return undefined;
  const until = new Date(at.getTime() + (answer.failure === null ? row.cache_hours * hourMs : retryMs));
  await inOrg(deps.db, row.organization_id, (tx) => storeEnrichment(tx, row, { value, ...answer, at, until }));
  return { ...answer, at };
}
