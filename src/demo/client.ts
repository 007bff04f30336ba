/** The demo uses the service as anyone would: over HTTP, with a key. */
export type DemoClient = <T>(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown) => Promise<T>;

export function createClient(address: string, key: string): DemoClient {
  return async (method, path, body) => {
    const isText = typeof body === 'string';
    const answer = await fetch(address + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': isText ? 'application/x-ndjson' : 'application/json' },
      ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as never;
  };
}

/** Every page of a list that goes by cursor. */
export async function listAll<T>(call: DemoClient, path: string, field: string): Promise<T[]> {
  const found: T[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Record<string, T[]> & { nextCursor?: string | null } = await call(
      'GET',
      `${path}${path.includes('?') ? '&' : '?'}limit=200${cursor ? `&cursor=${cursor}` : ''}`,
    );
    found.push(...(page[field] ?? []));
    cursor = page.nextCursor ?? null;
  }
  return found;
}
