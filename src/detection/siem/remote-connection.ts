import { didYouMean } from '../../platform/lib/text/nearest-names.ts';
import { SiemError, type RemoteConnection, type SearchResult } from './connector.ts';
import { authorError, UnknownColumnError } from './siem-errors.ts';

type Adapter = Omit<RemoteConnection, 'search'> & {
  search: (...given: Parameters<RemoteConnection['search']>) => Promise<Omit<SearchResult, 'ms'>>;
};

const fieldsMs = 10_000;

/** What is the same for every SIEM elsewhere: its time is taken, and a column that it does not know is answered with the nearest that it has. */
export function createRemoteConnection(adapter: Adapter): RemoteConnection {
  return {
    fields: adapter.fields,
    ping: adapter.ping,
    check: (query, signal) => naming(adapter, () => adapter.check(query, signal)),
    search: async (query, window, limits, signal) => {
      signal.throwIfAborted();
      const began = performance.now();
      const result = await naming(adapter, () => adapter.search(query, window, limits, signal));
      return { ...result, ms: performance.now() - began };
    },
  };
}

async function naming<T>({ fields }: Adapter, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UnknownColumnError)) throw error;
    // Without the list the message says less, and is as true.
    const datasets = await fields(AbortSignal.timeout(fieldsMs)).catch((reason: unknown) => {
      if (reason instanceof SiemError) return [];
      throw reason;
    });
    const names = new Set(datasets.flatMap((dataset) => dataset.fields.map(({ name }) => name)));
    throw authorError('unknown_column', `${error.message}${didYouMean(error.column, names)}`);
  }
}
