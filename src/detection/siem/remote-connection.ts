import { didYouMean } from '../../platform/lib/text/nearest-names.ts';
import { SiemError, type RemoteConnection, type SearchResult } from './connector.ts';
import { authorError, dataDependentError, UnknownColumnError } from './siem-errors.ts';

type Adapter = Omit<RemoteConnection, 'search'> & {
  search: (...args: Parameters<RemoteConnection['search']>) => Promise<Omit<SearchResult, 'ms'>>;
};

const fieldsMs = 10_000;

/** Wraps an adapter: measures the time of searches and suggests column names for an unknown one. */
export function createRemoteConnection(adapter: Adapter): RemoteConnection {
  return {
    fields: adapter.fields,
    ping: adapter.ping,
    check: (query, signal) => suggestColumns(adapter, () => adapter.check(query, signal)),
    search: async (query, window, limits, signal) => {
      signal.throwIfAborted();
      const startMs = performance.now();
      const result = await suggestColumns(adapter, () => adapter.search(query, window, limits, signal));
      return { ...result, ms: performance.now() - startMs };
    },
  };
}

async function suggestColumns<T>({ fields }: Adapter, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UnknownColumnError)) throw error;
    // If the fields cannot be listed, the message has no suggestions.
    const datasets = await fields(AbortSignal.timeout(fieldsMs)).catch((reason: unknown) => {
      if (reason instanceof SiemError) return [];
      throw reason;
    });
    const names = new Set(datasets.flatMap((dataset) => dataset.fields.map(({ name }) => name)));
    const create = error.failure.dependsOnData ? dataDependentError : authorError;
    throw create('unknown_column', `${error.message}${didYouMean(error.column, names)}`);
  }
}
