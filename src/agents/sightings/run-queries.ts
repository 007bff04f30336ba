import { isIP } from 'node:net';
import { type QueryWindow, type SiemConnection, SiemError } from '../../detection/siem/connector.ts';
import { findConnector, type RemoteSiemType, type SiemKind } from '../../detection/siem/connectors/registry.ts';
import type { LogField } from '../../feed/model/values/indicator-type.ts';
import { ownsSubdomains } from '../../feed/reference-data/shared-suffixes.ts';
import { findSightings, type Sighting } from './find-sightings.ts';
import { listNetworkPrefixes, type SweepTarget, type SweptDataset } from './sweep-targets.ts';

/** Builds a query for the rows of a dataset that contain one of the terms. Returns undefined if no field fits any of them. */
export function buildSweepQuery(
  kind: SiemKind,
  { dataset, fields }: SweptDataset,
  terms: SearchTerms,
): string | undefined {
  const { text, isIn, isLike, or, query } = findConnector(kind).sweep;
  const conditions = fields.flatMap((field) => {
    const { values, patterns } = terms[field.kind];
    return [
      ...(values.length === 0 ? [] : [isIn(text(field.name), values)]),
      ...(patterns.length === 0 ? [] : [isLike(text(field.name), patterns)]),
    ];
  });
  return conditions.length === 0 ? undefined : query(dataset, conditions.join(or));
}

/** The terms to search for in fields of one kind: whole values, and patterns with `*` at their beginning, their end, or both. All in lower case. */
type FieldTerms = { values: string[]; patterns: string[] };
type SearchTerms = Record<LogField, FieldTerms>;

/** Returns everything that may be a sighting of the targets. Patterns may match more, so each found row has to be verified. */
export function toSearchTerms(targets: SweepTarget[]): SearchTerms {
  const sets = {
    address: createSets(),
    domain: createSets(),
    hash: createSets(),
    url: createSets(),
    file: createSets(),
  };
  for (const target of targets) addTerms(sets, target);
  const toTerms = ({ values, patterns }: TermSets): FieldTerms => ({ values: [...values], patterns: [...patterns] });
  return {
    address: toTerms(sets.address),
    domain: toTerms(sets.domain),
    hash: toTerms(sets.hash),
    url: toTerms(sets.url),
    file: toTerms(sets.file),
  };
}

type TermSets = { values: Set<string>; patterns: Set<string> };
const createSets = (): TermSets => ({ values: new Set(), patterns: new Set() });

function addTerms(sets: Record<LogField, TermSets>, { kind, type, value, host }: SweepTarget): void {
  if (type === 'cidr') {
    for (const prefix of listNetworkPrefixes(value)) {
      if (isIP(prefix)) sets.address.values.add(prefix);
      else sets.address.patterns.add(`${prefix}*`);
      sets.url.patterns.add(prefix.includes(':') ? `*://[${prefix}*` : `*://${prefix}*`);
    }
    return;
  }
  sets[kind].values.add(value);
  // A log may have the path.
  if (kind === 'file') sets.file.patterns.add(`*${value}`);
  if (kind === 'url' && host !== undefined) sets[isIP(host) ? 'address' : 'domain'].values.add(host);
  if (kind === 'address') sets.url.patterns.add(isIP(value) === 6 ? `*://[${value}]*` : `*://${value}*`);
  if (kind !== 'domain') return;
  sets.url.patterns.add(`*://${value}*`);
  if (!ownsSubdomains(value)) return;
  sets.domain.patterns.add(`*.${value}`);
  sets.url.patterns.add(`*.${value}*`);
}

export type SweepResult = {
  sightings: Sighting[];
  /** The number of queries sent. */
  queries: number;
  /** False if the sweep has to be repeated. A dataset that rejects its query is skipped and does not count. */
  isComplete: boolean;
  /** Whether the sweep stopped because the hour's queries were used up. */
  isOutOfQueries: boolean;
  /** A message for the organization's analysts. */
  error: string | null;
};

type SweepRequest = {
  kind: RemoteSiemType | 'local';
  /** Targets with distinct values. Each batch is one query. */
  batches: SweepTarget[][];
  targets: SweepTarget[];
  queriesMax: number;
  datasets: readonly SweptDataset[];
  window: QueryWindow;
  signal: AbortSignal;
};

const limits = { rowsMax: 500, groupsMax: 500, timeoutMs: 60_000 };

/**
 * Searches a window of datasets. Skips a dataset that rejects its query and reports it in `error`. Throws a SiemError if the SIEM itself fails.
 */
export async function runSweepQueries(connection: SiemConnection, request: SweepRequest): Promise<SweepResult> {
  const { kind, batches, targets, queriesMax, datasets, window, signal } = request;
  const result: SweepResult = { sightings: [], queries: 0, isComplete: true, isOutOfQueries: false, error: null };
  for (const dataset of datasets) {
    const queue = [...batches];
    for (let batch = queue.shift(); batch; batch = queue.shift()) {
      const query = buildSweepQuery(kind, dataset, toSearchTerms(batch));
      if (query === undefined) continue;
      if (result.queries >= queriesMax) {
        const error = 'The query limit of this hour is used up. The sweep continues later.';
        return { ...result, isComplete: false, isOutOfQueries: true, error };
      }
      result.queries += 1;
      const outcome = await searchUnlessRejected(() => connection.search(query, window, limits, signal));
      if ('rejection' in outcome) {
        result.error = `${dataset.dataset}: ${outcome.rejection}`.slice(0, 1_000);
        break;
      }
      const sightings = findSightings(outcome.rows, dataset, targets);
      result.sightings.push(...sightings);
      // Rows of a frequent value can fill the result and hide other values: search again for the values not seen yet.
      const unseen = removeSeen(batch, sightings);
      if (outcome.truncated && unseen.length > 0 && unseen.length < batch.length) queue.push(unseen);
    }
  }
  return result;
}

function removeSeen(batch: SweepTarget[], sightings: Sighting[]): SweepTarget[] {
  const seen = new Set(sightings.map(({ kind, value }) => `${kind} ${value}`));
  return batch.filter(({ kind, value }) => !seen.has(`${kind} ${value}`));
}

async function searchUnlessRejected(search: () => ReturnType<SiemConnection['search']>) {
  try {
    return await search();
  } catch (error) {
    if (error instanceof SiemError && error.failure.blame === 'author') return { rejection: error.failure.message };
    throw error;
  }
}
