import { z } from 'zod';
import { SiemError, type Row, type SiemConnector, type SiemFailure } from '../src/detection/siem/connector.ts';

const Query = z.string().regex(/^rule=\d+( sums)?$/);

/** The connector to the soak's SIEM, as the adapters of src/detection/siem are: nothing of the database, nothing of an organization. */
export const soakSiem: SiemConnector<{ url: string; firstEventAt: Date }> = {
  label: 'SIEM of the soak',
  connect: ({ url, firstEventAt }) => ({
    clock: 'ingest',
    delayMs: 0,
    search: async (query, { from, to }, { timeoutMs }, signal) => {
      const [rule, sums] = Query.parse(query).slice('rule='.length).split(' ');
      const begun = performance.now();
      const body = JSON.stringify({ rule: Number(rule), from, to });
      const rows = await ask(url, body, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]), signal);
      const ms = Math.round(performance.now() - begun);
      return { rows, total: rows.length, truncated: false, aggregate: sums !== undefined, noData: false, ms };
    },
    check: () => Promise.resolve(),
    fields: () => Promise.resolve([]),
    ping: () => Promise.resolve(),
    firstEventAt: () => Promise.resolve(firstEventAt),
  }),
};

async function ask(url: string, body: string, limit: AbortSignal, stop: AbortSignal): Promise<Row[]> {
  let status: number;
  let read: { rows?: Row[]; error?: string };
  try {
    const answer = await fetch(url, { method: 'POST', body, signal: limit });
    status = answer.status;
    read = (await answer.json()) as typeof read;
  } catch (error) {
    stop.throwIfAborted();
    throw new SiemError({ ...unavailable, message: error instanceof Error ? error.message : String(error) });
  }
  if (read.rows) return read.rows;
  if (status === 400)
    throw new SiemError({ kind: 'unknown_column', blame: 'author', retryable: false, message: read.error ?? '' });
  throw new SiemError({ ...unavailable, message: `${status} ${read.error ?? ''}` });
}

const unavailable: Omit<SiemFailure, 'message'> = { kind: 'siem_unavailable', blame: 'upstream', retryable: true };
