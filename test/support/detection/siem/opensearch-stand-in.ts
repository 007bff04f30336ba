import { startSiemStandIn } from './siem-stand-in.ts';

export type OpenSearchStandIn = {
  url: string;
  requestCount: () => number;
  /** Returns the number of requests that wait for a response. */
  openCount: () => number;
  /**
   * Sets the response: 200 with a result, another status as an error, `hang` for no response, or null for a closed connection. With
   * `queries`, only requests with a query fail.
   */
  answerWith: (status: number | 'hang' | null, only?: 'queries') => void;
};

/** Starts an HTTP server that responds like OpenSearch's PPL endpoint. Every window has one row with the field `user`. */
export async function startOpenSearch(): Promise<OpenSearchStandIn> {
  let status: number | 'hang' | null = 200;
  let onlyQueries = false;
  const standIn = await startSiemStandIn(({ body }) => {
    if (status === 'hang') return 'hang';
    if (status === null) return 'cut';
    const isExempt = onlyQueries && !body.includes('source=');
    return { status: isExempt ? 200 : status, body: responseTo(body) };
  });
  return {
    url: standIn.url,
    requestCount: () => standIn.asked.length,
    openCount: standIn.openCount,
    answerWith: (next, only) => {
      status = next;
      onlyQueries = only === 'queries';
    },
  };
}

function responseTo(request: string): unknown {
  const from = /TIMESTAMP\('([^']+)'\)/.exec(request)?.[1];
  if (from === undefined) return { version: { distribution: 'opensearch' }, fields: { user: { keyword: {} } } };
  const schema = [
    { name: '@timestamp', type: 'timestamp' },
    { name: request.includes('rename user as entity') ? 'entity' : 'user', type: 'string' },
  ];
  return { schema, datarows: [[from, 'ada']], total: 1, size: 1 };
}
