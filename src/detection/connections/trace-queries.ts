import { inSpan } from '../../platform/lib/logging/spans.ts';
import type { QueryWindow, SearchResult, SiemConnection } from '../siem/connector.ts';

/** Returns the same connection, whose queries are recorded in traces: without their text, which may contain names of people and hosts. */
export function traceQueries(kind: string, connection: SiemConnection): SiemConnection {
  const describe = ({ from, to }: QueryWindow) => ({
    'tocsin.connection.kind': kind,
    'tocsin.window.from': from.toISOString(),
    'tocsin.window.to': to.toISOString(),
    ...(connection.id === undefined ? {} : { 'tocsin.connection.id': connection.id }),
  });
  const { together } = connection;
  return {
    ...connection,
    search: (query, window, limits, signal) =>
      inSpan('query', { attributes: describe(window) }, async (span): Promise<SearchResult> => {
        const result = await connection.search(query, window, limits, signal);
        span.setAttribute('tocsin.query.rows', result.total);
        return result;
      }),
    ...(together
      ? {
          together: {
            ...together,
            search: (queries, window, limits, signal) =>
              inSpan('query set', { attributes: { ...describe(window), 'tocsin.query.count': queries.length } }, () =>
                together.search(queries, window, limits, signal),
              ),
          },
        }
      : {}),
  };
}
