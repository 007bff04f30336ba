import type { QueryRow } from '../connector.ts';

/** A JSON line of search/v2/jobs/export. */
export type ExportLine = { preview?: boolean; result?: Record<string, unknown>; lastrow?: boolean };

const internalFields = new Set([
  '_bkt',
  '_cd',
  '_serial',
  '_si',
  '_subsecond',
  '_kv',
  '_eventtype_color',
  '_sourcetype',
]);

/** Converts a Splunk result to a row: the time in UTC, an ID made of bucket and address, without internal fields. */
export function toSplunkRow(result: Record<string, unknown>): QueryRow {
  const { _bkt: bucket, _cd: address, _time: time } = result;
  const row: QueryRow = Object.fromEntries(Object.entries(result).filter(([name]) => !internalFields.has(name)));
  if (typeof bucket === 'string' && typeof address === 'string' && !('_id' in row)) row['_id'] = `${bucket}:${address}`;
  const at = typeof time === 'string' && /^\d{4}-/.test(time) ? new Date(time) : undefined;
  if (at && !Number.isNaN(at.getTime())) row['_time'] = at.toISOString();
  return row;
}
