import { hash } from 'node:crypto';
import type { QueryRow } from '../siem/connector.ts';
import {
  type Candidate,
  type Facts,
  findMaxSeverity,
  readAuthorSeverity,
  type RenderedRow,
  type Severity,
} from './candidate.ts';
import type { AnalysisInput } from './category.ts';
import type { AnalysisWindow } from './analysis-definition.ts';
import type { GroupedRow, EntityGroup } from './rows/group-rows.ts';
import { parseList } from './rows/fields.ts';
import { renderRow, computeRowId } from './rows/render-row.ts';
import { mapInSteps, type Steps } from '../../platform/lib/concurrency/slices.ts';
import { canonicalJson, canonicalText, compareCodeUnits } from '../../platform/lib/text/canonical-text.ts';
import { findRowTime } from './rows/row-times.ts';
import { combineValues } from './rows/row-values.ts';

const rowsMax = 50;
const valueKeysMax = 30;

type CandidateInput = {
  kindKey: string;
  /** The severity if the author's rows have none. */
  severity: Severity;
  facts: Facts;
  /** The rows behind the candidate. */
  rows: readonly GroupedRow[];
};

/** Builds a candidate with the facts common to all categories and the 50 most severe rows, rendered. */
export function* buildCandidate(
  { window, definition }: AnalysisInput,
  group: EntityGroup,
  parts: CandidateInput,
): Steps<Candidate> {
  const chosen = yield* chooseRows(parts.rows, window, definition.timeField);
  const rows = yield* mapInSteps(chosen, ({ row, time }) => ({ row: renderRow(row, window, definition), time }));
  const fromAuthor = findMaxSeverity(yield* mapInSteps(parts.rows, ({ row }) => readAuthorSeverity(row)));
  const techniques = yield* techniquesOf(parts.rows);
  const valueKeys = yield* valueKeysOf(parts.rows);
  return {
    entity: group.entity,
    entityType: group.entityType,
    kind: definition.category,
    kindKey: parts.kindKey,
    severity: fromAuthor ?? parts.severity,
    facts: {
      ...commonFacts(group, window),
      candidateRows: parts.rows.length,
      valueKeys,
      ...parts.facts,
      ...(techniques.length > 0 ? { techniques } : {}),
      ...(fromAuthor ? { authorSeverity: fromAuthor } : {}),
    },
    rows: orderRows(rows),
  };
}

/** Returns the facts of every candidate. `rows` counts all of the entity's rows. `count` is compared by suppression. */
function commonFacts(group: EntityGroup, window: AnalysisWindow): Facts {
  return {
    count: group.rows.length,
    rows: group.rows.length,
    entityNamed: group.isNamed,
    windowFrom: window.from.toISOString(),
    windowTo: window.to.toISOString(),
  };
}

/** Returns a kind key made of the row IDs, or of the window's start for aggregates. For categories without a better one. */
export function* computeRowsKindKey({ window, definition }: AnalysisInput, rows: readonly GroupedRow[]): Steps<string> {
  if (window.aggregate) return `${definition.category}:${window.from.toISOString()}`;
  const ids = [...new Set(yield* mapInSteps(rows, ({ row }) => computeRowId(row, window)))].toSorted(compareCodeUnits);
  return `${definition.category}:${hash('sha256', JSON.stringify(ids))}`;
}

/** Returns up to 20 ATT&CK techniques from the rows' `technique` and `techniques` columns, which are texts or lists. */
function* techniquesOf(rows: readonly GroupedRow[]): Steps<string[]> {
  const found = new Set((yield* mapInSteps(rows, ({ row }) => rowTechniques(row))).flat());
  return [...found].toSorted(compareCodeUnits).slice(0, 20);
}

function rowTechniques(row: QueryRow): string[] {
  const columns = ['technique', 'techniques'].filter((column) => Object.hasOwn(row, column));
  const texts = columns.flatMap((column) => {
    const list = parseList(row[column]);
    return list.length > 0 ? list : [row[column]];
  });
  return texts.flatMap(
    (text) =>
      canonicalText(text)
        ?.slice(0, 500)
        .toUpperCase()
        .match(/\bT\d{4}(?:\.\d{3})?\b/g) ?? [],
  );
}

/** Returns short hashes of the rows' distinct values, by which suppression detects new values. More than 30 are hashed into one. */
function* valueKeysOf(rows: readonly GroupedRow[]): Steps<string[]> {
  const hashes = yield* mapInSteps(rows, ({ row, field }) =>
    combineValues(row, field).map(({ key }) => key.slice(0, 12)),
  );
  const keys = new Set(hashes.flat());
  const sorted = [...keys].toSorted(compareCodeUnits);
  return sorted.length <= valueKeysMax ? sorted : [hash('sha256', sorted.join()).slice(0, 32)];
}

/** A row with its time in epoch milliseconds, with the microseconds as their fraction. Infinity: it has none. */
type TimedRow<Row> = { row: Row; time: number };

/** Picks 50 rows: the most severe, then the earliest. The result does not depend on the order of the rows. */
function* chooseRows(
  rows: readonly GroupedRow[],
  window: AnalysisWindow,
  timeField: string | null,
): Steps<TimedRow<QueryRow>[]> {
  const timed = yield* mapInSteps(rows, ({ row }) => ({ row, time: findRowTime(row, timeField) ?? Infinity }));
  if (rows.length <= rowsMax) return timed;
  const rated = yield* mapInSteps(timed, ({ row, time }) => ({
    row,
    time,
    severity: readAuthorSeverity(row),
    id: computeRowId(row, window),
  }));
  return rated
    .toSorted((a, b) => compareSeverity(a.severity, b.severity) || compareTimes(a, b) || compareCodeUnits(a.id, b.id))
    .slice(0, rowsMax);
}

// The difference of two rows without a time is not a number.
const compareTimes = (a: { time: number }, b: { time: number }): number => (a.time === b.time ? 0 : a.time - b.time);

function compareSeverity(a: Severity | undefined, b: Severity | undefined): number {
  return a === b ? 0 : findMaxSeverity([a, b]) === a ? -1 : 1;
}

/**
 * Orders rows by time, then ID, without duplicates. Rows without a time come last. Rows with one ID and different contents get a hash of the content
 * appended to the ID.
 */
export function orderRows(rows: readonly TimedRow<RenderedRow>[]): RenderedRow[] {
  const byId = new Map<string, Map<string, TimedRow<RenderedRow>>>();
  for (const timed of rows) {
    const { row } = timed;
    const byContent = byId.get(row.rowId) ?? new Map<string, TimedRow<RenderedRow>>();
    const text = canonicalJson([row.time, row.fields]);
    if (compareTimes(timed, byContent.get(text) ?? timed) <= 0) byContent.set(text, timed);
    byId.set(row.rowId, byContent);
  }
  const unique = [...byId.values()].flatMap((byContent) => {
    if (byContent.size === 1) return [...byContent.values()];
    return [...byContent].map(([text, { row, time }]) => ({
      row: { ...row, rowId: `${row.rowId}~${hash('sha256', text).slice(0, 8)}` },
      time,
    }));
  });
  return unique
    .toSorted((a, b) => compareTimes(a, b) || compareCodeUnits(a.row.rowId, b.row.rowId))
    .map(({ row }) => row);
}
