import { hash } from 'node:crypto';
import type { Row } from '../../siem/connector.ts';
import type { RenderedRow } from '../candidate.ts';
import type { AnalysisDefinition, AnalysisWindow } from '../analysis-definition.ts';
import { listIn } from './fields.ts';
import { flattenRow } from './flatten.ts';
import { isSecretField, redacted, redactText } from '../../../platform/lib/text/redact.ts';
import {
  shortenText,
  canonicalJson,
  canonicalText,
  compareCodeUnits,
  truncateText,
  escapeInvisible,
} from '../../../platform/lib/text/canonical-text.ts';
import { timeOf } from './times.ts';

const fieldMax = 500;
const fieldsMax = 50;
const rowMax = 8_000;
const nameMax = 200;
const eventIdsMax = 100;
// A secret that a cut would hide from the rules must lie far beyond what is shown.
const readMax = 4_000;

/**
 * A row as the judge sees it and as it is stored: text per field, secrets redacted, at most 500 characters a field, 50
 * fields and 8,000 characters a row, hidden characters written out. Evidence is compared with exactly this.
 */
export function renderRow(row: Row, window: AnalysisWindow, definition: AnalysisDefinition): RenderedRow {
  const eventIds = eventIdsOf(row);
  return {
    rowId: rowIdOf(row, window),
    time: timeOf(row, definition.timeField),
    fields: renderFields(row),
    ...(eventIds.length > 0 ? { eventIds } : {}),
  };
}

/** The event's own id where the row has one, else a hash of window and row: the same row of the same window keeps its id. */
export function rowIdOf(row: Row, window: AnalysisWindow): string {
  const own = Object.hasOwn(row, '_id') ? canonicalText(row['_id']) : undefined;
  if (own !== undefined) return shortenText(escapeInvisible(own));
  return hash('sha256', `${window.from.toISOString()}/${window.to.toISOString()}/${canonicalJson(row)}`).slice(0, 32);
}

/** One value as it is shown; undefined for null and the empty string. */
export function renderValue(field: string, value: unknown): string | undefined {
  const text = canonicalText(redactNested(field, value));
  if (text === undefined) return undefined;
  const seen = truncateText(text, readMax);
  return truncateText(escapeInvisible(redactText(seen)), fieldMax);
}

/** Rows by time, those without one last, then by id: one order, whatever order they came in. */
export function compareRows(a: RenderedRow, b: RenderedRow): number {
  return compareCodeUnits(a.time ?? '~', b.time ?? '~') || compareCodeUnits(a.rowId, b.rowId);
}

function renderFields(row: Row): Record<string, string> {
  const fields = new Map<string, string>();
  let size = 0;
  for (const [field, value] of flattenRow(row)) {
    const text = renderValue(field, value);
    if (text === undefined) continue;
    const name = shortenText(escapeInvisible(field), nameMax);
    size += name.length + text.length;
    if (fields.size === fieldsMax || size > rowMax) break;
    fields.set(name, text);
  }
  // Unlike assignment this makes an own property of any name, `__proto__` included.
  return Object.fromEntries(fields);
}

/** Secret fields inside lists, which flattening does not reach. */
function redactNested(field: string, value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return isSecretField(field) ? redacted : value;
  if (typeof value !== 'object' || value === null || value instanceof Date || depth > 8) return value;
  if (Array.isArray(value)) return value.slice(0, readMax).map((item) => redactNested(field, item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactNested(key, inner, depth + 1)]));
}

function eventIdsOf(row: Row): string[] {
  if (!Object.hasOwn(row, '_ids')) return [];
  const ids = listIn(row['_ids']).slice(0, eventIdsMax);
  return ids.flatMap((id) => canonicalText(id) ?? []).map((id) => shortenText(escapeInvisible(id)));
}
