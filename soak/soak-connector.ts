import { z } from 'zod';
import { SiemError, type QueryRow, type SiemConnector, type SiemFailure } from '../src/detection/siem/connector.ts';

const Query = z.string().regex(/^rule=\d+( sums)?$/);

/** The connector to the scripted SIEM. Like the adapters in src/detection/siem, it knows neither the database nor an organization. */
export const soakSiem: Pick<SiemConnector<{ url: string; firstEventAt: Date }>, 'connect'> = {
  connect: ({ url, firstEventAt }) => ({
    clock: 'ingest',
    delayMs: 0,
    search: async (query, { from, to }, { timeoutMs }, signal) => {
      const [rule, sums] = Query.parse(query).slice('rule='.length).split(' ');
      const startMs = performance.now();
      const body = JSON.stringify({ rule: Number(rule), from, to });
      const rows = await postQuery(url, body, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]), signal);
      const ms = Math.round(performance.now() - startMs);
      return { rows, total: rows.length, truncated: false, aggregate: sums !== undefined, noData: false, ms };
    },
    check: () => Promise.resolve(),
    fields: () => Promise.resolve([]),
    ping: () => Promise.resolve(),
    firstEventAt: () => Promise.resolve(firstEventAt),
  }),
};

async function postQuery(url: string, body: string, limit: AbortSignal, stop: AbortSignal): Promise<QueryRow[]> {
  let status: number;
  let result: { rows?: QueryRow[]; error?: string };
  try {
    const response = await fetch(url, { method: 'POST', body, signal: limit });
    status = response.status;
    result = (await response.json()) as typeof result;
  } catch (error) {
    stop.throwIfAborted();
    throw new SiemError({ ...unavailable, message: error instanceof Error ? error.message : String(error) });
  }
  if (result.rows) return result.rows;
  if (status === 400)
    throw new SiemError({ kind: 'unknown_column', blame: 'author', retryable: false, message: result.error ?? '' });
  throw new SiemError({ ...unavailable, message: `${status} ${result.error ?? ''}` });
}

const unavailable: Omit<SiemFailure, 'message'> = { kind: 'siem_unavailable', blame: 'upstream', retryable: true };
