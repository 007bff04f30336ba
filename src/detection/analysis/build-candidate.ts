import { hash } from 'node:crypto';
import type { Row } from '../siem/connector.ts';
import type { Candidate, Facts, RenderedRow, Severity } from './candidate.ts';
import type { AnalysisInput } from './category.ts';
import type { AnalysisWindow } from './analysis-definition.ts';
import type { EntityRow, Group } from './rows/group-rows.ts';
import { listIn } from './rows/fields.ts';
import { compareRows, renderRow, rowIdOf } from './rows/render.ts';
import { authorSeverity, maxSeverity } from './severity.ts';
import { canonicalJson, canonicalText, compareCodeUnits } from '../../platform/lib/text/canonical-text.ts';
import { timeOf } from './rows/times.ts';
import { valuesKey, valuesOf } from './rows/values.ts';

const rowsMax = 50;
const valueKeysMax = 30;

type Parts = {
  kindKey: string;
  /** From the facts, where the author's rows do not give one. */
  severity: Severity;
  facts: Facts;
  /** The rows that made the candidate. */
  rows: readonly EntityRow[];
};

/** Puts a candidate together: the 50 most severe rows rendered, and the facts that every category carries. */
export function buildCandidate({ window, definition }: AnalysisInput, group: Group, parts: Parts): Candidate {
  const shown = chooseRows(parts.rows, window, definition.timeField).map((row) => renderRow(row, window, definition));
  const rendered = keepApart(shown).toSorted(compareRows);
  const given = maxSeverity(parts.rows.map(({ row }) => authorSeverity(row)));
  const techniques = techniquesOf(parts.rows);
  return {
    entity: group.entity,
    entityType: group.entityType,
    kind: definition.category,
    kindKey: parts.kindKey,
    severity: given ?? parts.severity,
    facts: {
      ...commonFacts(group, window),
      candidateRows: parts.rows.length,
      valueKeys: valueKeysOf(parts.rows),
      ...parts.facts,
      ...(techniques.length > 0 ? { techniques } : {}),
      ...(given ? { authorSeverity: given } : {}),
    },
    rows: rendered,
  };
}

/** What is known of any candidate: `rows` are all of the entity's, `count` is what suppression compares. */
function commonFacts(group: Group, window: AnalysisWindow): Facts {
  return {
    count: group.rows.length,
    rows: group.rows.length,
    entityNamed: group.named,
    windowFrom: window.from.toISOString(),
    windowTo: window.to.toISOString(),
  };
}

/** The kind key of what has no better one: the row ids, for aggregates the window's start. */
export function rowsKindKey({ window, definition }: AnalysisInput, rows: readonly EntityRow[]): string {
  if (window.aggregate) return `${definition.category}:${window.from.toISOString()}`;
  const ids = [...new Set(rows.map(({ row }) => rowIdOf(row, window)))].toSorted(compareCodeUnits);
  return `${definition.category}:${hash('sha256', JSON.stringify(ids))}`;
}

/** The ATT&CK techniques that the author's rows name in `technique` (or `techniques`), as text or as a list. */
function techniquesOf(rows: readonly EntityRow[]): string[] {
  const found = new Set<string>();
  for (const { row } of rows) for (const technique of rowTechniques(row)) found.add(technique);
  return [...found].toSorted(compareCodeUnits).slice(0, 20);
}

function rowTechniques(row: Row): string[] {
  const columns = ['technique', 'techniques'].filter((column) => Object.hasOwn(row, column));
  const texts = columns.flatMap((column) => {
    const list = listIn(row[column]);
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

/** Short names of the distinct values shown, for «no new value»; too many of them have one name together. */
function valueKeysOf(rows: readonly EntityRow[]): string[] {
  const keys = new Set(rows.map(({ row, field }) => valuesKey(valuesOf(row, field)).slice(0, 12)));
  const sorted = [...keys].toSorted(compareCodeUnits);
  return sorted.length <= valueKeysMax ? sorted : [hash('sha256', sorted.join()).slice(0, 32)];
}

/** The most severe rows first, then the earliest; the choice does not depend on the order that they came in. */
function chooseRows(rows: readonly EntityRow[], window: AnalysisWindow, timeField: string | null): Row[] {
  if (rows.length <= rowsMax) return rows.map(({ row }) => row);
  return rows
    .map(({ row }) => ({
      row,
      severity: authorSeverity(row),
      time: timeOf(row, timeField) ?? '~',
      id: rowIdOf(row, window),
    }))
    .toSorted(
      (a, b) =>
        compareSeverity(a.severity, b.severity) || compareCodeUnits(a.time, b.time) || compareCodeUnits(a.id, b.id),
    )
    .slice(0, rowsMax)
    .map(({ row }) => row);
}

function compareSeverity(a: Severity | undefined, b: Severity | undefined): number {
  return a === b ? 0 : maxSeverity([a, b]) === a ? -1 : 1;
}

/** One row per id: the same content once, different content under one id told apart by a hash of it. */
export function keepApart(rows: readonly RenderedRow[]): RenderedRow[] {
  const byId = new Map<string, Map<string, RenderedRow>>();
  for (const row of rows) {
    const same = byId.get(row.rowId) ?? new Map<string, RenderedRow>();
    byId.set(row.rowId, same.set(canonicalJson([row.time, row.fields]), row));
  }
  return [...byId.values()].flatMap((same) => {
    if (same.size === 1) return [...same.values()];
    return [...same].map(([text, row]) => ({ ...row, rowId: `${row.rowId}~${hash('sha256', text).slice(0, 8)}` }));
  });
}
