import { hash } from 'node:crypto';
import type { QueryRow } from '../../siem/connector.ts';
import type { RenderedRow } from '../candidate.ts';
import type { AnalysisDefinition, AnalysisWindow } from '../analysis-definition.ts';
import { parseList, flattenRow } from './fields.ts';
import { isSecretField, redacted, redactText } from '../../../platform/lib/text/redact.ts';
import {
  shortenText,
  canonicalJson,
  canonicalText,
  truncateText,
  escapeInvisible,
} from '../../../platform/lib/text/canonical-text.ts';
import { findRowTime } from './row-times.ts';

const fieldMax = 500;
const fieldsMax = 50;
const rowMax = 8_000;
const nameMax = 200;
const eventIdsMax = 100;
// Redaction reads far more than is shown, so that truncation cannot hide part of a secret from its rules.
const readMax = 4_000;

/**
 * Renders a row as it is stored, shown to the analyst and compared with evidence: text per field with secrets redacted and invisible
 * characters escaped, at most 500 characters per field, 50 fields and 8,000 characters per row.
 */
export function renderRow(row: QueryRow, window: AnalysisWindow, definition: AnalysisDefinition): RenderedRow {
  const eventIds = listEventIds(row);
  const time = findRowTime(row, definition.timeField);
  return {
    rowId: computeRowId(row, window),
    time: time === undefined ? null : new Date(Math.floor(time)).toISOString(),
    fields: renderFields(row),
    ...(eventIds.length > 0 ? { eventIds } : {}),
  };
}

/** Returns the row's `_id`, else a hash of window and row, so that the same row of the same window keeps its ID. */
export function computeRowId(row: QueryRow, window: AnalysisWindow): string {
  const id = Object.hasOwn(row, '_id') ? canonicalText(row['_id']) : undefined;
  if (id !== undefined) return shortenText(escapeInvisible(id));
  return hash('sha256', `${window.from.toISOString()}/${window.to.toISOString()}/${canonicalJson(row)}`).slice(0, 32);
}

/** Renders one value. Returns undefined for null and the empty string. */
export function renderValue(field: string, value: unknown): string | undefined {
  const text = canonicalText(redactNested(field, value));
  if (text === undefined) return undefined;
  return truncateText(escapeInvisible(redactText(truncateText(text, readMax))), fieldMax);
}

function renderFields(row: QueryRow): Record<string, string> {
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
  // Unlike assignment, this creates own properties of any name, including `__proto__`.
  return Object.fromEntries(fields);
}

/** Redacts secret fields inside lists, which are not flattened. */
function redactNested(field: string, value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return isSecretField(field) ? redacted : value;
  if (typeof value !== 'object' || value === null || value instanceof Date || depth > 8) return value;
  if (Array.isArray(value)) return value.slice(0, readMax).map((item) => redactNested(field, item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactNested(key, inner, depth + 1)]));
}

function listEventIds(row: QueryRow): string[] {
  if (!Object.hasOwn(row, '_ids')) return [];
  const ids = parseList(row['_ids']).slice(0, eventIdsMax);
  return ids.flatMap((id) => canonicalText(id) ?? []).map((id) => shortenText(escapeInvisible(id)));
}
