/** Calls the API over HTTP with a key and returns the JSON response. */
export type DemoClient = <T>(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown) => Promise<T>;

export function createClient(address: string, key: string): DemoClient {
  return async (method, path, body) => {
    const isText = typeof body === 'string';
    const response = await fetch(address + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': isText ? 'application/x-ndjson' : 'application/json' },
      ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`);
    return (await response.json()) as never;
  };
}

/** Returns all items of a paged list. */
export async function listAll<T>(call: DemoClient, path: string, field: string): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Record<string, T[]> & { nextCursor?: string | null } = await call(
      'GET',
      `${path}${path.includes('?') ? '&' : '?'}limit=200${cursor ? `&cursor=${cursor}` : ''}`,
    );
    items.push(...(page[field] ?? []));
    cursor = page.nextCursor ?? null;
  }
  return items;
}
