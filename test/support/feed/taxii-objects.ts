import type { TestOrg } from '../harness.ts';

export type TaxiiObject = Record<string, unknown> & { id: string; type: string; modified?: string; revoked?: boolean };

/** Reads the last versions of all objects of an organization, page by page. */
export async function readLastObjects(org: TestOrg): Promise<TaxiiObject[]> {
  const objects: TaxiiObject[] = [];
  for (let next: string | undefined = ''; next !== undefined;) {
    const url = `/taxii2/root/collections/all/objects/?limit=1000${next && `&next=${next}`}`;
    const { body }: { body: { objects?: TaxiiObject[]; next?: string } } = await org.call('GET', url);
    objects.push(...(body.objects ?? []));
    next = body.next;
  }
  return objects;
}
