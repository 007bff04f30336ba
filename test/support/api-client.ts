import { createOrganization } from '../../src/app/bootstrap.ts';
import type { Db } from '../../src/platform/db/db.ts';
import { systemClock, type Clock } from '../../src/platform/lib/time/clock.ts';
import type { OrgId } from '../../src/platform/lib/org-id.ts';
import { operatorOf, scopes } from '../../src/platform/http/caller.ts';
import { createKey } from '../../src/platform/orgs/keys.ts';
import { whileServing } from './listen.ts';

/** Creates an organization and an API key with all scopes. */
export async function createOrganizationWithKey(
  { db, clock = systemClock }: { db: Db; clock?: Clock },
  name: string,
): Promise<{ id: OrgId; key: string }> {
  const { id } = await createOrganization({ db, clock }, name);
  const caller = operatorOf(id);
  const { key } = await createKey({ db }, caller, { name, scopes: [...scopes] });
  return { id, key: key! };
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
/** Sends a request and returns the body of the response. Throws for any status other than 200. */
export type ApiCall = (method: Method, path: string, body?: unknown) => Promise<ReturnType<typeof JSON.parse>>;

/** Returns a function that calls a running program with an API key. */
export const createCaller =
  (url: string, key: string): ApiCall =>
  async (method, path, body) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const payload = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, { method, headers, ...payload });
    const result: unknown = await response.json();
    if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(result)}`);
    return result;
  };

/** Creates a source for a document served over HTTP and pulls it. Requires TOCSIN_FETCH_ALLOW=127.0.0.1. Returns the result of the pull. */
export async function pullDocument(
  call: ApiCall,
  source: { kind: string; name: string; [field: string]: string },
  text: string,
): Promise<{ added: number; skipped: unknown[] }> {
  return whileServing(text, async (url) => {
    const { id } = await call('POST', '/api/feed/sources', { ...source, url });
    return call('POST', `/api/feed/sources/${id}/pull`);
  });
}
