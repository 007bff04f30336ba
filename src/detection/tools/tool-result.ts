import type { RenderedRow } from '../analysis/candidate.ts';
import { flattenRow } from '../analysis/rows/fields.ts';
import { renderValue } from '../analysis/rows/render-row.ts';
import type { ColumnKind } from '../siem/connector.ts';
import { withoutHiddenFields, type HiddenData } from '../siem/hidden-data.ts';

/**
 * What a tool found, in the one form in which it is stored as an observation and cited. At most 100 rows and 64 KiB of names and values. Rows are
 * rendered like those of a candidate: canonical text, secrets redacted, values cut at 500 characters.
 */
export type ToolResult = {
  /** The query that ran, as text that a person can run again. Null for a tool without one. */
  query: string | null;
  from: Date | null;
  to: Date | null;
  /** The fields of the rows. Values of a column whose kind is `other` cannot be cited, because a query can contain them. */
  columns: { name: string; kind: ColumnKind }[];
  rows: RenderedRow[];
  /** Rows that exist, as far as that is known. */
  total: number;
  truncated: boolean;
  /** Whether the datasets that were read have events in the time span. A count of zero proves something only then. Null where unknown. */
  hasEvents: boolean | null;
  /** What to do next, or why nothing was found. Not evidence. */
  note?: string;
};

export const resultLimits = { rowsMax: 100, bytesMax: 64 * 1024 };
const fieldsMax = 50;

type ResultInput = Partial<Omit<ToolResult, 'columns' | 'note'>> & {
  /** What the fields of the rows have. Default: values of the source. */
  kindOf?: (field: string) => ColumnKind;
  /** Names of columns that a result without rows has too. */
  names?: readonly string[];
  note?: string | undefined;
};

/** Completes a result and cuts it to its limits. */
export function createResult({
  rows = [],
  kindOf = () => 'value',
  names = [],
  note,
  ...rest
}: ResultInput): ToolResult {
  let bytes = 0;
  const fitting = rows.slice(0, resultLimits.rowsMax).filter((row) => (bytes += sizeOf(row)) <= resultLimits.bytesMax);
  const fields = new Set([...names, ...fitting.flatMap((row) => Object.keys(row.fields))]);
  const total = Math.max(rest.total ?? 0, rows.length);
  return {
    query: null,
    from: null,
    to: null,
    hasEvents: null,
    ...rest,
    columns: [...fields].map((name) => ({ name, kind: kindOf(name) })),
    rows: fitting,
    total,
    truncated: (rest.truncated ?? false) || fitting.length < total,
    ...(note === undefined ? {} : { note }),
  };
}

const sizeOf = ({ rowId, fields }: RenderedRow): number =>
  Object.entries(fields).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value),
    rowId.length,
  );

/** Renders a record of anything but a log as a row. Fields of objects get dotted names. */
export function toRow(
  rowId: string,
  record: Readonly<Record<string, unknown>>,
  time: string | null = null,
): RenderedRow {
  const fields = flattenRow({ ...record }).flatMap(([name, value]): [string, string][] => {
    const text = renderValue(name, value);
    return text === undefined ? [] : [[name, text]];
  });
  return { rowId, time, fields: Object.fromEntries(fields.slice(0, fieldsMax)) };
}

const lineMax = 500;

/** Returns text of another system as rows: the objects of a JSON list or of one JSON object, or else the lines of the text, each cut at 500 characters. */
export function toTextRows(text: string): RenderedRow[] {
  const records = parseRecords(text);
  if (records) return records.map((record, index) => toRow(`${index + 1}`, record));
  const lines = text.split('\n').flatMap((line) => line.match(new RegExp(`.{1,${lineMax}}`, 'gsu')) ?? []);
  return lines.filter((line) => line.trim() !== '').map((line, index) => toRow(`${index + 1}`, { text: line }));
}

function parseRecords(text: string): Record<string, unknown>[] | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const list = Array.isArray(value) ? value : [value];
    return list.every((one) => typeof one === 'object' && one !== null && !Array.isArray(one)) ? list : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a result without the fields that the organization keeps from models. */
export function hideFields(result: ToolResult, hidden: HiddenData): ToolResult {
  if (hidden.fields.length === 0) return result;
  const rows = withoutHiddenFields(result.rows, hidden);
  const left = new Set(rows.flatMap((row) => Object.keys(row.fields)));
  const had = new Set(result.rows.flatMap((row) => Object.keys(row.fields)));
  return { ...result, rows, columns: result.columns.filter(({ name }) => left.has(name) || !had.has(name)) };
}
