type Query = Record<string, unknown>;
type Page = { body: unknown; headers: Headers };

/**
 * Yields the pages of a list. `read` returns the page of a query. The feed's later pages show the snapshot of the first one, so that no item is missing
 * or repeated.
 */
export async function* readPages(read: (query: Query) => Promise<Page>, query: Query): AsyncGenerator<unknown> {
  let next: Query | undefined = {};
  while (next) {
    const page: Page = await read({ ...query, ...next });
    yield page.body;
    next = findNext(page);
  }
}

/** Returns the parameters that request the next page, or undefined after the last one. */
function findNext({ body, headers }: Page): Query | undefined {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  if (typeof fields['nextCursor'] === 'string') return { cursor: fields['nextCursor'] };
  if (fields['hasNext'] === true) {
    const { asOf } = (fields['outputs'] ?? {}) as { asOf?: string };
    return { page: Number(fields['page']) + 1, ...(asOf !== undefined && { asOf }) };
  }
  // TAXII 2.1, section 3.5.
  if (fields['more'] === true && typeof fields['next'] === 'string') return { next: fields['next'] };
  const [, after] = /[?&]after=([^&>]+)[^>]*>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
  return after === undefined ? undefined : { after: decodeURIComponent(after) };
}

/** Returns the entries of a page: its only array. */
export const entriesOf = (page: unknown): unknown[] =>
  Object.values(page as Record<string, unknown>).find((value) => Array.isArray(value)) ?? [];
