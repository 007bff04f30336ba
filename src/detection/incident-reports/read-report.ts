import { inOrg } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { readAllPages } from '../../platform/lib/page-request.ts';
import { findOrgName } from '../../platform/orgs/orgs.store.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { HitDetail, Hit } from '../hits/hits.schema.ts';
import { listHitsById, type EventHitRow } from '../hits/read-hits.store.ts';
import { toHit, withLink } from '../hits/read-hits.ts';
import { getIncident, getIncidentTimeline, type ReadIncidentsDeps } from '../incidents/read-incidents.ts';
import { findIncidentRun, resolveCaseCitation, type IncidentRunRow } from '../runs/responses/incident-case.store.ts';
import type { IncidentReport, Story, StoryRun } from './incident-reports.schema.ts';
import { describeTimeRange } from '../analysis/wording.ts';
import type { IncidentDetail, TimelineKind } from '../incidents/incidents.schema.ts';

export type ReportDeps = ReadIncidentsDeps & { clock: Clock };

const hitsMax = 200;
const entriesMax = 500;

/**
 * Returns the report on an incident: its story, its hits in order of time and its time line, with the numbers of what exceeds the limits. `rows` are the
 * hits as they are stored, in the same order, and `run` is the one that wrote the story.
 */
export async function getIncidentReport(
  deps: ReportDeps,
  caller: Caller,
  id: string,
): Promise<{ report: IncidentReport; rows: EventHitRow[]; run: StoryRun | undefined }> {
  const incident = await getIncident(deps, caller, id);
  const ids = [...new Set(incident.stages.flatMap(({ hitIds }) => hitIds))].slice(0, hitsMax);
  const { found, organization, written } = await inOrg(deps.db, caller.orgId, async (tx) => ({
    found: await listHitsById(tx, caller.orgId, ids),
    organization: (await findOrgName(tx, caller.orgId)) ?? '',
    written: await findIncidentRun(tx, caller.orgId, incident.id),
  }));
  const rows = found.toSorted((a, b) => a.firstSeenAt.getTime() - b.firstSeenAt.getTime());
  const hits = rows.map(({ rows: _rows, facts, ...row }) => ({
    ...withLink(toHit(row), deps.config.publicUrl),
    facts: JSON.parse(facts) as HitDetail['facts'],
  }));
  const readEntries = (kinds: readonly TimelineKind[]) =>
    readAllPages((query) => getIncidentTimeline(deps, caller, incident.id, { ...query, kinds }), entriesMax);
  // Each has a limit of its own, so that neither many hits nor many findings of hunts leave decisions out.
  const seen = await readEntries(['hit']);
  const findings = await readEntries(['finding']);
  const decisions = await readEntries(['comment', 'change', 'status']);
  const run = written && toStoryRun(written);
  const story = run && arrangeStory(incident, hits, run);
  const report: IncidentReport = {
    createdAt: deps.clock().toISOString(),
    organization,
    incident,
    story: story ?? composeStory(incident, hits),
    hits: hits.map(({ facts: _facts, ...hit }) => hit),
    timeline: [seen, findings, decisions]
      .flatMap(({ entries }) => entries)
      .toSorted((a, b) => b.at.localeCompare(a.at) || b.id.localeCompare(a.id)),
    leftOut: {
      hits: incident.hits - hits.length,
      isTimelineCut: decisions.isCut,
      areFindingsCut: findings.isCut,
    },
  };
  return { report, rows, run: story && run };
}

/** A hit with its computed facts. */
export type ToldHit = Hit & Pick<HitDetail, 'facts'>;
type Sentence = Story['paragraphs'][number]['sentences'][number];

/**
 * Tells what happened in an incident: a paragraph for each stage, in which every hit is stated and followed by the proven claims of its verdict and by
 * its assessments. Nothing is written anew, so that each sentence cites what its hit cites. Hits that are not among `hits` are not told.
 */
export function composeStory(
  { title, stages }: Pick<IncidentDetail, 'title' | 'stages'>,
  hits: readonly ToldHit[],
): Story {
  const byId = new Map(hits.map((hit) => [hit.id, hit]));
  const told = stages.map(({ tactic, name, firstAt, lastAt, hitIds }) => ({
    tactic,
    name,
    firstAt,
    lastAt,
    sentences: hitIds.flatMap((id) => (byId.has(id) ? tellHit(byId.get(id)!) : [])),
  }));
  return {
    headline: title,
    writtenBy: null,
    paragraphs: told.filter(({ sentences }) => sentences.length > 0),
    openQuestions: hits.flatMap(({ id, openQuestion }) =>
      openQuestion === null ? [] : [{ hitId: id, text: openQuestion }],
    ),
    nextSteps: hits.flatMap(({ id, nextStep }) => (nextStep === '' ? [] : [{ hitId: id, text: nextStep }])),
    unproven: hits.flatMap(({ claims }) => claims).filter(({ status }) => status === 'unproven').length,
  };
}

function toStoryRun({ entities, startedAt, finishedAt, ...row }: IncidentRunRow): StoryRun | undefined {
  const [verdict] = JSON.parse(entities) as StoryRun['verdict'][];
  if (!verdict) return undefined;
  const times = { startedAt: startedAt.toISOString(), finishedAt: finishedAt.toISOString() };
  return { ...row, ...times, verdict: { headline: verdict.headline, claims: verdict.claims } };
}

/**
 * Arranges the checked claims of a run about an incident as its story: those that stand, in their order, each in the stage of the first hit that it cites.
 * An assessment follows the sentence before it. A claim that refers to what is not in the incident any more is left out and counted, like one that
 * nothing proves. Returns undefined if no fact is left.
 */
export function arrangeStory(
  incident: Pick<IncidentDetail, 'title' | 'stages'>,
  hits: readonly ToldHit[],
  { verdict, startedAt, finishedAt: at, ...writer }: StoryRun,
): Story | undefined {
  const composed = composeStory(incident, hits);
  const hitIds = hits.map(({ id }) => id);
  const sentences = verdict.claims.flatMap(({ text, status, cites }): Sentence[] => {
    if (status === 'unproven') return [];
    if (status === 'assessment') return [{ text, status, hitId: null, cites: [] }];
    const resolved = cites.map((cite) => resolveCaseCitation(cite, hitIds));
    const hitId = resolved.find((cite) => cite?.hit !== undefined)?.hit;
    return hitId === undefined || resolved.includes(undefined)
      ? []
      : [{ text, status, hitId, cites: resolved as Sentence['cites'] }];
  });
  let place = sentences.find(({ hitId }) => hitId !== null)?.hitId;
  if (!place) return undefined;
  const byHit = Map.groupBy(sentences, ({ hitId }) => (place = hitId ?? place!));
  return {
    ...composed,
    headline: verdict.headline,
    writtenBy: { ...writer, at, hitsSince: hits.filter(({ createdAt }) => createdAt > startedAt).length },
    paragraphs: incident.stages.flatMap(({ tactic, name, firstAt, lastAt, hitIds: ofStage }) => {
      const told = sentences.filter((sentence) => ofStage.some((id) => byHit.get(id)?.includes(sentence)));
      return told.length === 0 ? [] : [{ tactic, name, firstAt, lastAt, sentences: told }];
    }),
    unproven: verdict.claims.length - sentences.length,
  };
}

/** Returns the sentence that states a hit, and those of its verdict. */
function tellHit(hit: ToldHit): Sentence[] {
  const { id: hitId, detection, severity, occurrenceCount: windows, windowFrom: from, windowTo: to } = hit;
  const place = windows > 1 ? `in ${windows} windows from` : 'in the window';
  const by = `(${detection.name}, ${severity}, ${place} ${describeTimeRange({ from, to }, 'from', 'to')})`;
  const text = `${hit.headline} ${by}`;
  const claims = hit.claims.flatMap(({ status, ...claim }): Sentence[] =>
    status === 'unproven'
      ? []
      : [{ text: claim.text, status, hitId, cites: claim.cites.map((cite) => addValue(cite, hit.facts)) }],
  );
  return [{ text, status: 'cited', hitId, cites: [{ hit: hitId }] }, ...claims];
}

/** Returns a citation of a fact with the value of the fact, which the claim does not repeat. */
function addValue(cite: Sentence['cites'][number], facts: ToldHit['facts']): Sentence['cites'][number] {
  if (cite.fact === undefined || !Object.hasOwn(facts, cite.fact)) return cite;
  const value = facts[cite.fact];
  return { ...cite, value: Array.isArray(value) ? value.join(', ') : String(value) };
}
