import type { Secretbox } from '../../platform/lib/secretbox.ts';
import type { ConnectionRow } from './connections.store.ts';

type Ref = { organization_id: string; id: string };

const contextOf = ({ organization_id, id }: Ref): string => `connection/${organization_id}/${id}`;

export const seal = (secrets: Secretbox, ref: Ref, credentials: unknown): Buffer =>
  secrets.seal(JSON.stringify(credentials), contextOf(ref));

export const unseal = (secrets: Secretbox, row: Pick<ConnectionRow, 'organization_id' | 'id' | 'sealed'>): unknown =>
  JSON.parse(secrets.open(row.sealed, contextOf(row))) as unknown;
