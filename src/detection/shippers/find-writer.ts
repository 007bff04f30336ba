import type { OrgId } from '../../platform/lib/org-id.ts';
import type { KeyAuthenticator } from '../../platform/orgs/authenticate.ts';

/** Returns the organization of an API key from the settings. Throws if the key may not send logs at present. */
export async function findWriter(auth: KeyAuthenticator, key: string): Promise<OrgId> {
  const caller = await auth.findCaller(`Bearer ${key}`);
  if (!caller?.scopes.has('logs:write')) throw new Error('The key is not valid or lacks the scope logs:write.');
  if (caller.isSuspended) throw new Error('The organization is suspended.');
  return caller.orgId;
}
