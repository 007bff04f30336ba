import { startStandIn } from './siem-stand-in.ts';

export type OpenSearchStandIn = {
  url: string;
  /** How many requests have come. */
  asked: () => number;
  /** 200: it answers; any other status: it answers with that; null: nobody listens to the request; hang: nobody answers it. */
  answerWith: (status: number | 'hang' | null, only?: 'queries') => void;
};

/** An OpenSearch that holds one row in every window, knows the rename of its only field, and can be down. Over real HTTP, in the words of its PPL endpoint. */
export async function startOpenSearch(): Promise<OpenSearchStandIn> {
  let status: number | 'hang' | null = 200;
  let onlyQueries = false;
  const standIn = await startStandIn(({ body }) => {
    if (status === 'hang') return 'hang';
    if (status === null) return 'cut';
    const isSpared = onlyQueries && !body.includes('source=');
    return { status: isSpared ? 200 : status, body: answer(body) };
  });
  return {
    url: standIn.url,
    asked: () => standIn.asked.length,
    answerWith: (next, only) => {
      status = next;
      onlyQueries = only === 'queries';
    },
  };
}

function answer(sent: string): unknown {
  const from = /TIMESTAMP\('([^']+)'\)/.exec(sent)?.[1];
  if (from === undefined) return { version: { distribution: 'opensearch' }, fields: { user: { keyword: {} } } };
  const schema = [
    { name: '@timestamp', type: 'timestamp' },
    { name: sent.includes('rename user as entity') ? 'entity' : 'user', type: 'string' },
  ];
  return { schema, datarows: [[from, 'ada']], total: 1, size: 1 };
}
