import type { Candidate, RenderedRow } from '../../analysis/candidate.ts';
import { plainName } from '../../analysis/rows/fields.ts';
import { isRecordId, isTime } from '../../analysis/rows/times.ts';
import type { Evidence } from '../verdict.ts';

const evidenceMax = 5;

type Kind = { pattern: RegExp; why: string };
// Patterns read the last part of a name in plain letters (`event.action` → `action`), or, where they hold a dot, all of it.
const actions: Kind = {
  pattern:
    /^(?:eventname|action|eventaction|operation|operationname|activity|activityname|commandline|processcommandline|command|scriptblocktext|query|queryname|newprocessname|methodname|method|verb)$/,
  why: 'what was done',
};
// In the order in which they tell most; what matches none comes after them.
const kinds: Kind[] = [
  actions,
  {
    pattern:
      /^requestparameters\.|policy|role(?:name|arn)?$|^target|targetuser|resource|privilege|group|bucket|object|filename|filepath|^path$|registry|domain|^url|dest|recipient(?!account)|member|secretid|grantee/,
    why: 'what it was done to',
  },
  { pattern: /image$|process(?:name|path)$|executable|application|useragent|^app$/, why: 'what did it' },
  {
    pattern:
      /ip$|ipaddress|sourceaddress|country|city|geo|region|asn|location|^source|^src|hostname$|^host$|^computer$/,
    why: 'where it came from',
  },
  { pattern: /error|result|status|outcome|reason|responseelements/, why: 'how it ended' },
];
const authorFields = /^(?:severity|techniques?|steps?)$/i;

/** The most telling fields of a candidate's rows, at most five: of each row the best first, no value twice, never a time or a record's id. */
export function tellingEvidence(candidate: Candidate): Evidence[] {
  const perRow = candidate.rows.map((row) => rankFields(row, candidate));
  const chosen: Evidence[] = [];
  const seen = new Set<string>();
  for (
    let rank = 0;
    rank < Math.max(0, ...perRow.map((fields) => fields.length)) && chosen.length < evidenceMax;
    rank++
  ) {
    for (const evidence of perRow.flatMap((fields) => fields[rank] ?? [])) {
      const name = JSON.stringify([evidence.field, evidence.value]);
      if (seen.has(name) || chosen.length === evidenceMax) continue;
      seen.add(name);
      chosen.push(evidence);
    }
  }
  return chosen;
}

/** The distinct values that say what was done, at most three, the most frequent first. */
export function actionsOf({ rows }: Candidate): string[] {
  const counts = new Map<string, number>();
  for (const { fields } of rows) {
    const action = Object.entries(fields).find(([field]) => matches(actions, field))?.[1];
    if (action !== undefined) counts.set(action, (counts.get(action) ?? 0) + 1);
  }
  const byCount = [...counts].toSorted(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
  return byCount.slice(0, 3).map(([action]) => action);
}

function rankFields(row: RenderedRow, candidate: Candidate): Evidence[] {
  const telling = Object.entries(row.fields).filter(
    ([field, value]) => !isTime(field, value) && !isRecordId(field, value),
  );
  const logged = telling.filter(([field, value]) => value !== '-' && !authorFields.test(field));
  // What the author adds to a row is evidence only where the log gave nothing.
  return (logged.length > 0 ? logged : telling)
    .map(([field, value], place) => ({ field, value, place, rank: rankOf(field, value, candidate) }))
    .toSorted((a, b) => a.rank - b.rank || a.place - b.place)
    .map(({ field, value, rank }) => ({ rowId: row.rowId, field, value, why: whyOf(rank, candidate) }));
}

const numberRank = -1;
const otherRank = kinds.length;
const entityRank = otherRank + 1;

function rankOf(field: string, value: string, { entity, facts }: Candidate): number {
  if (field.toLowerCase() === facts['unit']) return numberRank;
  if (authorFields.test(field)) return entityRank + 1;
  if (value === entity) return entityRank;
  const found = kinds.findIndex((kind) => matches(kind, field));
  return found === -1 ? otherRank : found;
}

function matches({ pattern }: Kind, field: string): boolean {
  return pattern.test(plainName(field)) || pattern.test(field.toLowerCase());
}

function whyOf(rank: number, { kind }: Candidate): string {
  if (rank === numberRank) return 'the number that was compared';
  if (rank > entityRank) return 'given by the detection';
  if (rank === entityRank) return 'the entity itself';
  const role = kinds[rank]?.why ?? 'part of what happened';
  return kind === 'first_occurrence' ? `${role}, in a combination new for this entity` : role;
}
