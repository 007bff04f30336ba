import { expect } from 'vitest';
import type { TestOrg } from '../harness.ts';

export type TaxiiObject = Record<string, unknown> & {
  id: string;
  type: string;
  modified?: string;
  revoked?: boolean;
  name?: string;
};

export const objectsOf = (collection: string): string => `/taxii2/root/collections/${collection}/objects/`;

/** Reads a collection after a date, page by page. `last` is the date of the last object. */
export async function readAll(
  org: TestOrg,
  collection: string,
  after?: string,
  limit = 1_000,
): Promise<{ objects: TaxiiObject[]; last: string | undefined }> {
  const objects: TaxiiObject[] = [];
  let next: string | undefined;
  let last = after;
  for (let page = 0; page < 200; page += 1) {
    const more = next ? `&next=${next}` : after ? `&added_after=${after}` : '';
    const { status, body, headers } = await org.call('GET', `${objectsOf(collection)}?limit=${limit}${more}`);
    expect(status).toBe(200);
    objects.push(...(body.objects ?? []));
    last = (headers['x-taxii-date-added-last'] as string | undefined) ?? last;
    next = body.next;
    expect(body.more === true).toBe(next !== undefined);
    if (next === undefined) return { objects, last };
  }
  throw new Error('The collection did not end');
}

/** Reads the last versions of all objects of an organization, page by page. */
export const readLastObjects = async (org: TestOrg): Promise<TaxiiObject[]> => (await readAll(org, 'all')).objects;
