/** An organization's id, validated as a UUID. Every store function on tenant data accepts one, or a transaction opened for one. */
export type OrgId = string & { readonly brand: 'OrgId' };

export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function toOrgId(text: string): OrgId {
  if (!uuidPattern.test(text)) throw new Error('The organization id is not a UUID.');
  return text.toLowerCase() as OrgId;
}
