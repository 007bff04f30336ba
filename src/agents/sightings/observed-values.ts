import { isIP } from 'node:net';
import type { QueryWindow, SiemConnection } from '../../detection/siem/connector.ts';
import { toTermValue } from '../../feed/model/terms.ts';
import { listEnclosingNetworks } from '../../feed/model/values/networks.ts';
import { findSharedSuffix, listParents } from '../../feed/reference-data/shared-suffixes.ts';
import { quoteLiteral } from '../../detection/log-engine/sql/sql-text.ts';
import { readFileName, readHost } from './find-sightings.ts';
import type { SweptDataset } from './sweep-targets.ts';

const pageRows = 50_000;
const limits = { rowsMax: pageRows, groupsMax: pageRows, timeoutMs: 60_000 };

/** Yields the distinct values that the swept fields of a dataset have in a window of the embedded log store, in pages. Throws a SiemError. */
export async function* readObservedValues(
  connection: SiemConnection,
  { dataset, fields }: SweptDataset,
  window: QueryWindow,
  signal: AbortSignal,
): AsyncGenerator<string[]> {
  // One call reads all fields of an event. Reading each with a call of its own parses the event as often.
  const paths = fields.map(({ name }) => `'$.${name}'`).join(', ');
  const distinct = `SELECT DISTINCT unnest(json_extract_string(_event, [${paths}])) AS value FROM "${dataset}"`;
  let after: string | undefined;
  do {
    const condition = after === undefined ? 'value IS NOT NULL' : `value > ${quoteLiteral(after)}`;
    const query = `SELECT value FROM (${distinct}) WHERE ${condition} ORDER BY value LIMIT ${pageRows}`;
    const { rows } = await connection.search(query, window, limits, signal);
    const values = rows.map((row) => String(row['value']));
    yield values;
    after = rows.length === pageRows ? values.at(-1) : undefined;
  } while (after !== undefined);
}

const schemes = ['http', 'https', 'ftp', 'tcp', 'udp'];

/**
 * The forms under which the feed's index may list a logged value. `terms` are values of `item_terms`, and `urlStarts` are beginnings of URLs
 * of which seeing the host alone counts as a sighting.
 */
export type IndicatorForms = { terms: string[]; urlStarts: string[] };

/** Returns the indicators of which a value of a log may be a sighting. See `createTargetMatcher`, which decides. */
export function listIndicatorForms(observed: string): IndicatorForms {
  const value = observed.replace(/\/(?:32|128)$/, '');
  const lower = value.toLowerCase();
  const host = readHost(lower);
  const isAddress = isIP(host) > 0;
  const around = isAddress ? listEnclosingNetworks(host) : listParents(host).filter((name) => name.includes('.'));
  const isHost = isAddress || host.includes('.');
  const authority = isIP(host) === 6 ? `[${host}]` : host;
  const bases = isHost ? schemes.map((scheme) => `${scheme}://${authority}`) : [];
  const urls = bases.flatMap((base) => [base, `${base}/`]);
  const ownsPaths = isHost && (isAddress || findSharedSuffix(host) !== undefined);
  return {
    terms: [
      ...new Set([
        ...[value, lower, host, readFileName(value), readFileName(lower), ...urls].map((form) =>
          toTermValue('indicator', form),
        ),
        ...around,
      ]),
    ],
    urlStarts: ownsPaths ? bases.map((base) => `${base}/`) : [],
  };
}
