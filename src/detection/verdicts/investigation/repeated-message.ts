import type { RenderedRow } from '../../analysis/candidate.ts';
import { plainFieldName } from '../../../platform/lib/text/canonical-text.ts';

const labelledLine = /^[^:]{1,60}:\s*(.*)$/;
const labelledMin = 3;
const explainedShareMin = 0.6;
const messageNames = new Set(['message', 'renderedmessage', 'eventmessage']);

/** Returns the rows without the rendered messages of Windows events, which repeat the fields of their row between the vendor's labels and explanations. */
export const withoutRepeatedMessages = (rows: readonly RenderedRow[]): RenderedRow[] => rows.map(withoutMessage);

function withoutMessage(row: RenderedRow): RenderedRow {
  const names = Object.keys(row.fields);
  if (!names.some((name) => plainFieldName(name) === 'eventid')) return row;
  const kept = names.filter((name) => !(messageNames.has(plainFieldName(name)) && repeatsFields(name, row)));
  if (kept.length === names.length) return row;
  return { ...row, fields: Object.fromEntries(kept.map((name) => [name, row.fields[name]!])) };
}

/** Returns whether a message has lines of a label and a value, most of which are values of other fields. */
function repeatsFields(message: string, { fields }: RenderedRow): boolean {
  const others = Object.entries(fields).filter(([name]) => name !== message);
  const known = new Set(['', '-', ...others.map(([, value]) => value.toLowerCase())]);
  const lines = fields[message]!.split(/\\r\\n|\\n|\n/).map((line) => line.replaceAll('\\t', ' ').trim());
  const values = lines.flatMap((line) => labelledLine.exec(line)?.[1]?.trim().toLowerCase() ?? []);
  const filled = values.filter((value) => value !== '' && value !== '-');
  const explained = filled.filter((value) => known.has(value)).length;
  return filled.length >= labelledMin && explained >= explainedShareMin * filled.length;
}
