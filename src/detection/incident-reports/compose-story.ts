import { describeTimeRange } from '../analysis/wording.ts';
import type { Hit } from '../hits/hits.schema.ts';
import type { IncidentDetail } from '../incidents/incidents.schema.ts';
import type { Story } from './incident-reports.schema.ts';

type Sentence = Story['paragraphs'][number]['sentences'][number];

/**
 * Tells what happened in an incident: a paragraph for each stage, in which every hit is stated and followed by the proven claims of its verdict and by
 * its assessments. Nothing is written anew, so that each sentence cites what its hit cites. Hits that are not among `hits` are not told.
 */
export function composeStory({ title, stages }: Pick<IncidentDetail, 'title' | 'stages'>, hits: readonly Hit[]): Story {
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
    paragraphs: told.filter(({ sentences }) => sentences.length > 0),
    openQuestions: hits.flatMap(({ id, openQuestion }) =>
      openQuestion === null ? [] : [{ hitId: id, text: openQuestion }],
    ),
    nextSteps: hits.flatMap(({ id, nextStep }) => (nextStep === '' ? [] : [{ hitId: id, text: nextStep }])),
    unproven: hits.flatMap(({ claims }) => claims).filter(({ status }) => status === 'unproven').length,
  };
}

/** Returns the sentence that states a hit, and those of its verdict. */
function tellHit(hit: Hit): Sentence[] {
  const { id: hitId, detection, severity, occurrenceCount: windows, windowFrom: from, windowTo: to } = hit;
  const place = windows > 1 ? `in ${windows} windows from` : 'in the window';
  const by = `(${detection.name}, ${severity}, ${place} ${describeTimeRange({ from, to }, 'from', 'to')})`;
  const text = `${hit.headline} ${by}`;
  const claims = hit.claims.flatMap(({ status, ...claim }): Sentence[] =>
    status === 'unproven' ? [] : [{ text: claim.text, status, hitId, cites: claim.cites }],
  );
  return [{ text, status: 'cited', hitId, cites: [{ hit: hitId }] }, ...claims];
}
