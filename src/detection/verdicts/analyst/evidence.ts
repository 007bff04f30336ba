import type { Candidate, RenderedRow } from '../../analysis/candidate.ts';
import { getCategory } from '../../analysis/registry.ts';
import { plainFieldName } from '../../../platform/lib/text/canonical-text.ts';
import { isAbsent } from '../../analysis/rows/fields.ts';
import { operationField } from '../../analysis/rows/administrative.ts';
import { isRecordId, isTimeField } from '../../analysis/rows/row-times.ts';
import type { VerdictEvidence } from '../verdict.ts';

const defaultMax = 5;

type FieldRole = { pattern: RegExp; why: string };
// A pattern matches the plain form of a field's last part (`event.action` → `action`) or the whole lowercase name.
const actionRole: FieldRole = {
  pattern: operationField,
  why: 'the action',
};
// Ordered from most to least relevant. Fields without a role come after them.
const roles: FieldRole[] = [
  actionRole,
  {
    pattern:
      /^requestparameters\.|policy|role(?:name|arn)?$|^target|targetuser|resource|privilege|group|bucket|object|filename|filepath|^path$|registry|domain|^url|dest|recipient(?!account)|member|secretid|grantee/,
    why: 'the target',
  },
  { pattern: /image$|process(?:name|path)$|executable|application|useragent|^app$/, why: 'the program' },
  {
    pattern:
      /ip$|ipaddress|sourceaddress|country|city|geo|region|asn|location|^source|^src|hostname$|^host$|^computer$/,
    why: 'the origin',
  },
  { pattern: /error|result|status|outcome|reason|responseelements/, why: 'the result' },
];
const authorFields = /^(?:severity|techniques?|steps?)$/i;

/** Selects the most relevant fields, up to `max`, starting with the best one of each row. Omits repeated values, times and record IDs. */
export function selectEvidence(candidate: Candidate, max = defaultMax): VerdictEvidence[] {
  const perRow = candidate.rows.map((row) => rankFields(row, candidate));
  const chosen: VerdictEvidence[] = [];
  const seen = new Set<string>();
  for (let rank = 0; rank < Math.max(0, ...perRow.map((fields) => fields.length)) && chosen.length < max; rank++) {
    for (const evidence of perRow.flatMap((fields) => fields[rank] ?? [])) {
      const key = JSON.stringify([evidence.field, evidence.value]);
      if (seen.has(key) || chosen.length === max) continue;
      seen.add(key);
      chosen.push(evidence);
    }
  }
  return chosen;
}

/** Returns up to three distinct actions from the rows, most frequent first. */
export function listActions({ rows }: Candidate): string[] {
  const counts = new Map<string, number>();
  for (const { fields } of rows) {
    const action = Object.entries(fields).find(([field]) => matches(actionRole, field))?.[1];
    if (action !== undefined) counts.set(action, (counts.get(action) ?? 0) + 1);
  }
  const byCount = [...counts].toSorted(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1));
  return byCount.slice(0, 3).map(([action]) => action);
}

/** The values that say what happened: the most frequent action, and the first target and origin other than the entity. */
export type PrincipalValues = Partial<Record<'action' | 'target' | 'origin', string>>;

export function listPrincipalValues(candidate: Candidate): PrincipalValues {
  const ranked = candidate.rows.flatMap((row) => rankFields(row, candidate));
  const [action] = listActions(candidate);
  const first = (why: string) =>
    ranked.find((item) => item.why.startsWith(why) && item.value !== candidate.entity && item.value !== action)?.value;
  const [target, origin] = [first('the target'), first('the origin')];
  return {
    ...(action === undefined || action === candidate.entity ? {} : { action }),
    ...(target === undefined ? {} : { target }),
    ...(origin === undefined ? {} : { origin }),
  };
}

function rankFields(row: RenderedRow, candidate: Candidate): VerdictEvidence[] {
  const relevant = Object.entries(row.fields).filter(
    ([field, value]) => !isTimeField(field, value) && !isRecordId(field, value),
  );
  const logged = relevant.filter(([field, value]) => !isAbsent(value) && !authorFields.test(field));
  // Fields added by the detection's author are evidence only if the log has no other fields.
  return (logged.length > 0 ? logged : relevant)
    .map(([field, value], position) => ({ field, value, position, rank: rankField(field, value, candidate) }))
    .toSorted((a, b) => a.rank - b.rank || a.position - b.position)
    .map(({ field, value, rank }) => ({
      observation: 'rows',
      rowId: row.rowId,
      field,
      value,
      why: explainRank(rank, candidate),
    }));
}

const numberRank = -1;
const otherRank = roles.length;
const entityRank = otherRank + 1;

function rankField(field: string, value: string, { entity, facts }: Candidate): number {
  if (field.toLowerCase() === facts['unit']) return numberRank;
  if (authorFields.test(field)) return entityRank + 1;
  if (value === entity) return entityRank;
  const rank = roles.findIndex((role) => matches(role, field));
  return rank === -1 ? otherRank : rank;
}

function matches({ pattern }: FieldRole, field: string): boolean {
  return pattern.test(plainFieldName(field)) || pattern.test(field.toLowerCase());
}

function explainRank(rank: number, { kind }: Candidate): string {
  if (rank === numberRank) return 'the compared number';
  if (rank > entityRank) return 'set by the detection';
  if (rank === entityRank) return 'the entity itself';
  const role = roles[rank]?.why ?? 'part of the event';
  return `${role}${getCategory(kind).evidenceNote}`;
}
