import type { RenderedRow } from '../../detection/analysis/candidate.ts';
import { findNotes } from '../../detection/entities/entities.store.ts';
import { toAliases } from '../../detection/entities/entity-aliases.ts';
import type { EntityPath } from '../../detection/entities/entities.schema.ts';
import { findEntity, listSpellings } from '../../detection/entities/resolve-entities.ts';
import { findHit, listOccurrences, listRiskHits } from '../../detection/hits/read-hits.store.ts';
import { computeRisk, listDailyRisk } from '../../detection/hits/entity-risk.ts';
import type { RiskRules } from '../../detection/incidents/join-hits.ts';
import { type Clock, withIsoTimes } from '../../platform/lib/time/clock.ts';
import { listStatusChanges } from '../../detection/hits/hit-status.store.ts';
import { inOrg, type Db } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { EntityProfile, HitContext, IndicatorContext } from './context.schema.ts';
import {
  listDeliveries,
  listEntityHits,
  listItemsWithTerms,
  listJudgedHits,
  type JudgedHitRow,
  type SharedItemRow,
  listMentions,
  listSightings,
} from './context.store.ts';
import { canonicalForms } from '../../feed/model/values/indicator-forms.ts';
import { toTermValue } from '../../feed/model/terms.ts';
import { lookUpIndicator, type LookupDeps } from '../../feed/indicators/look-up-indicators.ts';

const [entityHitsMax, judgedReadMax, similarMax, itemsMax, timelineMax] = [20, 200, 10, 20, 300];
const listedMax = 100;

type Evidence = { field: string; value: string };

/** Returns what surrounds a hit: other hits of its entity, similar hits and how people judged them, feed items, and its time line. */
export function getHitContext({ db }: { db: Db }, { orgId, scopes }: Caller, id: string): Promise<HitContext> {
  return inOrg(db, orgId, async (tx) => {
    const hit = await findHit(tx, orgId, id);
    if (!hit) throw appError('not_found', `Hit ${id} not found.`);
    const rows = JSON.parse(hit.rows) as RenderedRow[];
    const known = await findEntity(tx, orgId, { type: hit.entityType, value: hit.entity });
    const names = [hit.entity, ...known.names.map(({ name }) => name)];
    const terms = findIndicatorValues(rows);
    const items = scopes.has('feed:read') ? await listItemsWithTerms(tx, orgId, [...terms.keys()], itemsMax) : null;
    const judged = await listJudgedHits(tx, orgId, hit, judgedReadMax);
    const times = rows.flatMap(({ time }) => time ?? []).toSorted();
    const occurrences = await listOccurrences(tx, orgId, id, listedMax);
    const changes = await listStatusChanges(tx, orgId, id, listedMax);
    const deliveries = await listDeliveries(tx, orgId, id, listedMax);
    const entries: Partial<HitContext['timeline'][number]>[] = [
      ...[...new Set([times[0], times.at(-1)])].flatMap((at) => (at ? [{ at, kind: 'event' as const }] : [])),
      { at: hit.createdAt.toISOString(), kind: 'raised' as const, detail: hit.headline },
      ...occurrences.map(({ runId, seenAt }) => ({ at: seenAt.toISOString(), kind: 'seen' as const, runId })),
      ...changes.map(({ at, keyId, actor, to, reason }) => ({
        at: at.toISOString(),
        kind: 'status' as const,
        detail: reason === null ? to : `${to}: ${reason}`,
        keyId,
        actor,
      })),
      ...deliveries.map(({ at, state, name, error }) => ({
        at: at.toISOString(),
        kind: state === 'delivered' ? ('delivered' as const) : ('delivery_failed' as const),
        detail: error === null ? name : `${name}: ${error}`,
      })),
    ];
    return {
      entityHits: (await listEntityHits(tx, orgId, { id, names }, entityHitsMax)).map(withIsoTimes),
      similar: rankSimilar(hit, new Set(names), judged),
      feedItems: items && items.map((item) => toFeedItem(item, terms)),
      timeline: entries
        .map(
          (entry) =>
            ({ detail: null, runId: null, keyId: null, actor: null, ...entry }) as HitContext['timeline'][number],
        )
        .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
        .slice(-timelineMax),
    };
  });
}

/** Ranks judged hits by the same entity, then by the evidence that they share, then by age. Hits that share nothing come last. */
function rankSimilar(
  hit: { evidence: string },
  names: ReadonlySet<string>,
  judged: JudgedHitRow[],
): HitContext['similar'] {
  const own = JSON.parse(hit.evidence) as Evidence[];
  return judged
    .map(({ evidence, judgedAt, reason, ...row }) => {
      const theirs = new Set((JSON.parse(evidence) as Evidence[]).map(toKey));
      const shared = own.filter((item) => theirs.has(toKey(item)));
      return {
        ...withIsoTimes(row),
        sameEntity: names.has(row.entity),
        sharedEvidence: shared.map(({ field, value }) => ({ field, value })),
        judgedAt: judgedAt?.toISOString() ?? null,
        reason,
      };
    })
    .toSorted(
      (a, b) => Number(b.sameEntity) - Number(a.sameEntity) || b.sharedEvidence.length - a.sharedEvidence.length,
    )
    .slice(0, similarMax);
}

const toKey = ({ field, value }: Evidence): string => `${field.toLowerCase()}\n${value}`;

const toFeedItem = ({ terms: found, ...item }: SharedItemRow, terms: Map<string, string>) => ({
  ...withIsoTimes(item),
  values: [...new Set(found.map((term) => terms.get(term) ?? term))],
});

const valuesMax = 300;
const valueCharsMax = 2000;

/** Returns the addresses, domains, URLs and hashes that are values of rows, as terms of the feed, each with the value as the row has it. */
export const findIndicatorValues = (rows: readonly RenderedRow[]): Map<string, string> =>
  toTerms(rows.flatMap(({ fields }) => Object.values(fields)));

function toTerms(texts: readonly string[]): Map<string, string> {
  const values = new Set(texts.flatMap(listValues));
  const terms = new Map<string, string>();
  for (const value of [...values].slice(0, valuesMax))
    for (const { form, isStrict } of canonicalForms(value))
      if (isStrict) terms.set(toTermValue('indicator', form), value);
  return terms;
}

/** A field may contain a list. */
const listValues = (text: string): string[] =>
  text.length > valueCharsMax
    ? []
    : [text, ...text.split(/[\s,;"'[\]{}()<>|]+/)].map((part) => part.trim()).filter((part) => part.length > 3);

const [notesMax, riskHitsMax, causesMax, historyDays] = [20, 1_000, 20, 30];
const dayMs = 86_400_000;
/** Older hits than this many half-lives add nothing. */
const halfLivesMax = 11;

export type ProfileDeps = { db: Db; clock: Clock; config: { incidents: { risk: RiskRules } } };

/** Returns what is known of an entity under all its names: its aliases, notes on it, its latest hits, and feed items that contain it. */
export function getEntityProfile(
  { db, clock, config }: ProfileDeps,
  { orgId, scopes }: Caller,
  path: EntityPath,
): Promise<EntityProfile> {
  return inOrg(db, orgId, async (tx) => {
    const raw = { type: path.type, value: path.name };
    const known = await findEntity(tx, orgId, raw);
    const names = known.names.map(({ name }) => name);
    const values = await listSpellings(tx, orgId, raw);
    const notes = await findNotes(tx, orgId, { entity: '', entityType: '', values }, notesMax);
    const terms = toTerms(names);
    const items = scopes.has('feed:read') ? await listItemsWithTerms(tx, orgId, [...terms.keys()], itemsMax) : null;
    const seen = known.names.filter((name) => name.hits > 0);
    const times = seen.flatMap(({ firstSeenAt, lastSeenAt }) => [firstSeenAt, lastSeenAt]);
    const now = clock();
    const { halfLifeMs, threshold } = config.incidents.risk;
    const since = new Date(now.getTime() - historyDays * dayMs - halfLivesMax * halfLifeMs);
    const riskHits = await listRiskHits(tx, orgId, { names, since }, riskHitsMax);
    const { score, causes } = computeRisk(riskHits, { now, halfLifeMs });
    const millis = times.flatMap((time) => time?.getTime() ?? []);
    return {
      ...toAliases(known),
      hitsTotal: seen.reduce((total, { hits }) => total + hits, 0),
      risk: {
        score,
        threshold,
        history: listDailyRisk(riskHits, { now, halfLifeMs, days: historyDays }).map((day) => ({
          ...day,
          at: day.at.toISOString(),
        })),
        causes: causes.slice(0, causesMax).map(withIsoTimes),
      },
      firstSeenAt: millis.length === 0 ? null : new Date(Math.min(...millis)).toISOString(),
      lastSeenAt: millis.length === 0 ? null : new Date(Math.max(...millis)).toISOString(),
      hits: (await listEntityHits(tx, orgId, { id: null, names }, entityHitsMax)).map(withIsoTimes),
      notes: notes.map(({ entity, note }) => ({ entity, note })),
      feedItems: items && items.map((item) => toFeedItem(item, terms)),
    };
  });
}

const [sightingsMax, hitsMax, hitsSearchedMax] = [50, 20, 5000];

/** Returns everything that is known of an indicator: the items that contain it, its sightings in the logs, and hits. */
export async function getIndicatorContext(deps: LookupDeps, caller: Caller, value: string): Promise<IndicatorContext> {
  const feed = await lookUpIndicator(deps, caller, value);
  const canonical = feed.normalizedValue ?? feed.value;
  // Sightings have the value in lower case.
  const forms = [...new Set([feed.value, canonical, canonical.toLowerCase()])];
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const sightings = await listSightings(tx, caller.orgId, forms, sightingsMax);
    const search = { forms, limit: hitsMax, searchedMax: hitsSearchedMax };
    const hits = caller.scopes.has('hits:read') ? await listMentions(tx, caller.orgId, search) : null;
    return {
      feed,
      sightings: sightings.map(withIsoTimes),
      hits: hits && hits.map(withIsoTimes),
    };
  });
}
