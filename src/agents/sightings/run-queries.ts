import { SiemError, type SiemConnection } from '../../detection/siem/connector.ts';
import type { RemoteKind } from '../../detection/siem/registry.ts';
import { fieldsToSweep, type Sought } from './sighting-fields.ts';
import { matchesOf, type Exposure } from './matches.ts';
import { sweepQuery, type Wanted } from './sweep-queries.ts';
import type { Target } from './sweep-targets.ts';

/** `isWhole`: everything was looked for; `isSpent`: the queries of this hour did not suffice. `error`: what a person should know. */
export type Asked = { found: Exposure[]; queries: number; isWhole: boolean; isSpent: boolean; error: string | null };

type Asking = {
  kind: RemoteKind | 'local';
  lists: Wanted[];
  targets: Target[];
  queriesMax: number;
  now: Date;
  signal: AbortSignal;
};

const datasetsMax = 50;
const backMs = 30 * 86_400_000;
const limits = { rowsMax: 500, groupsMax: 500, timeoutMs: 60_000 };

/**
 * Asks each dataset that has fields for it for the values of the last 30 days of logs. A dataset that refuses its query is passed over and
 * named; trouble of the SIEM itself is thrown, and all is asked again later.
 */
export async function askAll(connection: SiemConnection, asking: Asking): Promise<Asked> {
  const { kind, lists, targets, queriesMax, now, signal } = asking;
  const datasets = (await connection.fields(signal)).flatMap((one) => fieldsToSweep(one) ?? []).slice(0, datasetsMax);
  const asked: Asked = { found: [], queries: 0, isWhole: true, isSpent: false, error: null };
  const window = { from: new Date(now.getTime() - backMs), to: now, clock: connection.clock };
  for (const dataset of datasets) {
    const open = [...lists];
    for (let wanted = open.shift(); wanted; wanted = open.shift()) {
      const query = sweepQuery(kind, dataset, wanted);
      if (query === undefined) continue;
      if (asked.queries >= queriesMax)
        return {
          ...asked,
          isWhole: false,
          isSpent: true,
          error: 'The queries of this hour are spent: it goes on later.',
        };
      asked.queries += 1;
      const answer = await searchOf(() => connection.search(query, window, limits, signal));
      if ('refused' in answer) {
        asked.error = `${dataset.dataset}: ${answer.refused}`.slice(0, 1_000);
        break;
      }
      const found = matchesOf(answer.rows, dataset, targets);
      asked.found.push(...found);
      // The rows of a common value may have left no room for those of the others.
      const rest = without(wanted, found);
      if (answer.truncated && countOf(rest) < countOf(wanted)) open.push(rest);
    }
  }
  return asked;
}

function without(wanted: Wanted, found: Exposure[]): Wanted {
  const seen = new Set(found.map(({ kind, value }) => `${kind} ${value}`));
  const left = (kind: Sought): string[] => wanted[kind].filter((value) => !seen.has(`${kind} ${value}`));
  return { address: left('address'), domain: left('domain'), hash: left('hash'), url: left('url') };
}

const countOf = (wanted: Wanted): number => Object.values(wanted).flat().length;

async function searchOf(search: () => ReturnType<SiemConnection['search']>) {
  try {
    return await search();
  } catch (error) {
    if (error instanceof SiemError && error.failure.blame === 'author') return { refused: error.failure.message };
    throw error;
  }
}
