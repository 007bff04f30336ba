import { inOrg, type Db, type Tx } from '../../../../platform/db/db.ts';
import type { OrgId } from '../../../../platform/lib/org-id.ts';
import type { Candidate, Facts } from '../../../analysis/candidate.ts';
import { compileAllowList } from '../../../analysis/exceptions.ts';
import { getCategory } from '../../../analysis/registry.ts';
import { findNotes } from '../../../entities/entities.store.ts';
import { listSpellings } from '../../../entities/resolve-entities.ts';
import type { FeedTools } from '../../../tools/tool-definition.ts';
import { addRows, listEntriesLike } from '../../../value-lists/value-lists.store.ts';
import { listDetectionQueries } from '../../../detections/detections.store.ts';
import type { CaseFile, CitableEntry, CitableHit } from '../../../verdicts/claims/case-file.ts';
import { listLiterals } from '../../../verdicts/claims/mask-case.ts';
import type { ActiveRun } from '../../run-model/active-run.ts';
import { listDismissedCases, type DismissedCase } from '../review-cases.store.ts';
import { listEarlierHits, readRecurrence, type Recurrence } from './judging-sources.store.ts';
import { createDelimiter } from '../../../../platform/models/ask-model.ts';
import { enrichTool, listEnrichable } from '../../../tools/enrich.ts';
import { runToolCalls, type ToolTask } from '../../../verdicts/investigation/toolbox.ts';
import type { Observation } from '../../../verdicts/observation.ts';
import { bindTools, type BindToolsDeps } from './bind-tools.ts';

const notesMax = 10;
const hitsMax = 10;
const dismissedMax = 5;
const entriesMax = 20;
const valuesMax = 100;
const indicatorsMax = 20;
const itemsMax = 20;
const valueCharsMax = 500;
const dayMs = 86_400_000;
const recurrenceDays = 30;
/** What happened in the last days may be part of the same attack, so that it proves nothing. */
const recentDays = 7;
const recurredDaysMin = 7;
const recurredPeersMin = 5;

export type CaseFileDeps = { db: Db; feedTools?: (orgId: OrgId) => FeedTools };

/** Reads what a verdict on a candidate can cite besides observations: what the organization knows of its entity and values, and the threat feed. */
export async function readCaseFile(
  { db, feedTools }: CaseFileDeps,
  { orgId, scope: { detectionId }, definition }: Pick<ActiveRun, 'orgId' | 'scope' | 'definition'>,
  candidate: Candidate,
): Promise<Omit<CaseFile, 'observations'>> {
  const { entity, entityType, kind, severity, rows } = candidate;
  const kindKey = getCategory(kind).judgesEachKind ? candidate.kindKey : null;
  const behavior = { kind, kindKey, severity, techniques: candidate.facts['techniques'] };
  const before = new Date(String(candidate.facts['windowFrom']));
  const from = new Date(before.getTime() - recurrenceDays * dayMs);
  const to = new Date(before.getTime() - recentDays * dayMs);
  const values = listValues(rows);
  const known = await inOrg(db, orgId, async (tx) => {
    const otherNames = await listSpellings(tx, orgId, { type: entityType, value: entity }, { isProof: true });
    const named = { entity, entityType, otherNames };
    return {
      notes: await findNotes(tx, orgId, { entity, entityType, values: [...otherNames, ...values] }, notesMax),
      hits: [
        ...(await listEarlierHits(tx, orgId, { ...named, before }, hitsMax)),
        ...(await listDismissedCases(tx, orgId, { entity, before }, dismissedMax)).map(toCitableHit),
      ],
      entries: await findEntries(tx, orgId, [entity, ...values]),
      recurrence: await readRecurrence(tx, { orgId, detectionId }, { ...named, ...behavior, from, to }),
    };
  });
  const { recurrence, ...organization } = known;
  const indicators = [entity, ...values].filter(isIndicator).slice(0, indicatorsMax);
  const feed = indicators.length > 0 ? ((await feedTools?.(orgId).findKnownIndicators(indicators)) ?? []) : [];
  const items = feed.flatMap(({ indicator, items: found }) => found.map((item) => ({ ...item, indicator })));
  return {
    candidate,
    facts: { ...candidate.facts, ...toFacts(recurrence) },
    ...organization,
    items: items.slice(0, itemsMax),
    documents: definition.contextDocs,
  };
}

/** A case that a person dismissed is cited like a hit that a person judged as benign. */
const toCitableHit = ({ lastSeenAt, id, detection, severity, reason }: DismissedCase): CitableHit => ({
  id,
  detection,
  severity,
  reason,
  status: 'benign',
  isReviewed: true,
  lastSeenAt: lastSeenAt.toISOString(),
});

/** Returns how often the behavior recurred more than a week ago as facts. `recurs`: often enough to be ordinary. */
function toFacts({ wasAttack, ...counts }: Recurrence): Facts {
  const { recurredDays, recurredPeers, recurredPeerDays } = counts;
  const isOrdinary =
    recurredDays >= recurredDaysMin || (recurredPeers >= recurredPeersMin && recurredPeerDays >= recurredDaysMin);
  return { ...counts, recurs: isOrdinary && !wasAttack };
}

/** Returns the entries of the organization's value lists that match a value. */
async function findEntries(tx: Tx, orgId: OrgId, values: readonly string[]): Promise<CitableEntry[]> {
  const entries = await listEntriesLike(tx, orgId, values);
  const matching = entries.filter(({ entry }) => values.some(compileAllowList([entry])));
  return addRows(tx, orgId, matching.slice(0, entriesMax));
}

/** Lists distinct short values of the rows. */
function listValues(rows: Candidate['rows']): string[] {
  const values = new Set<string>();
  for (const { fields } of rows) {
    for (const value of Object.values(fields)) {
      if (value.length > 1 && value.length <= valueCharsMax) values.add(value);
      if (values.size === valuesMax) return [...values];
    }
  }
  return [...values];
}

/** Returns whether a value may be an address, a domain, a URL or a hash. The feed decides. */
const isIndicator = (value: string): boolean =>
  !/\s/.test(value) &&
  (/^[0-9a-f]{32}(?:[0-9a-f]{8}|[0-9a-f]{32})?$/i.test(value) || /[\p{L}\p{N}][.:][\p{L}\p{N}:]/u.test(value));

const partsMax = 30;

/** Returns the texts, in lower case, that a query and those of all enabled detections, Sigma rules among them, look for inside of values. */
export async function readQueryLiterals(
  { db }: CaseFileDeps,
  orgId: OrgId,
  { detectionQuery }: Pick<ActiveRun['definition'], 'detectionQuery'>,
): Promise<string[]> {
  const queries = await inOrg(db, orgId, (tx) => listDetectionQueries(tx, orgId));
  return [...new Set([detectionQuery, ...queries].flatMap(listLiterals))];
}

/** Returns the active indicators of the threat feed, in lower case, among the first 30 values or parts of values in the case. */
export async function readActiveIndicators(
  { feedTools }: CaseFileDeps,
  orgId: OrgId,
  { candidate, observations }: Pick<CaseFile, 'candidate' | 'observations'>,
): Promise<string[]> {
  const rows = [...candidate.rows, ...observations.flatMap((observation) => observation.rows)];
  const parts = new Set(rows.flatMap(({ fields }) => Object.values(fields)).flatMap(listParts));
  if (parts.size === 0) return [];
  const known = (await feedTools?.(orgId).findKnownIndicators([...parts].slice(0, partsMax))) ?? [];
  return known.filter(({ isActive }) => isActive).map(({ indicator }) => indicator.toLowerCase());
}

/** Returns the parts of a value that may be indicators: addresses, links with their hosts, domains and hashes. */
function listParts(value: string): string[] {
  const words = value.split(/[\s"'<>|,;()=]+/).map((word) => word.replace(/[.:]+$/, ''));
  return words.filter(isIndicator).flatMap((word) => [word, ...(/^https?:\/\/([^/:?#]+)/i.exec(word)?.slice(1) ?? [])]);
}

type Enriching = Pick<ToolTask, 'recordStep' | 'signal'> & { callsBefore: number };

/** Returns what the enrichers of the organization know of the addresses of a case, as an observation that claims can cite. */
export async function enrichCase(
  deps: BindToolsDeps,
  run: ActiveRun,
  candidate: Candidate,
  { callsBefore, ...task }: Enriching,
): Promise<Observation[]> {
  const values = listEnrichable(candidate);
  if (values.length === 0 || !(await deps.enrich?.isOn(run.orgId))) return [];
  const tools = await bindTools(deps, run, candidate, [enrichTool]);
  const [found] = await runToolCalls(
    { ...task, tools, model: { name: 'service' }, definition: { mode: 'standard' }, file: { candidate } },
    [{ id: enrichTool, name: enrichTool, input: { values } }],
    { delimiter: createDelimiter(), observations: [], callsBefore },
  );
  return found?.observation && found.observation.rows.length > 0 ? [found.observation] : [];
}
