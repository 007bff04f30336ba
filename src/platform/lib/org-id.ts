/** An organization's id, checked to be a UUID. Every store function on tenant data takes one, or a transaction opened for one. */
export type OrgId = string & { readonly brand: 'OrgId' };

export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function orgId(text: string): OrgId {
  if (!uuidPattern.test(text)) throw new Error('not an organization id');
  return text.toLowerCase() as OrgId;
}
