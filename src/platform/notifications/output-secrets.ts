import { randomBytes } from 'node:crypto';
import type { Secretbox } from '../lib/secretbox.ts';
import type { OutputRow } from './outputs.store.ts';

/** What is secret about a destination. `previous` signs too until its time: receivers can change over in between. */
export type Sealed = { url: string; secret: string | null; previous?: { secret: string; until: string } };

type Ref = { organization_id: string; id: string };

const contextOf = ({ organization_id, id }: Ref): string => `output/${organization_id}/${id}`;

export const seal = (secrets: Secretbox, ref: Ref, sealed: Sealed): Buffer =>
  secrets.seal(JSON.stringify(sealed), contextOf(ref));

export const unseal = (secrets: Secretbox, output: Pick<OutputRow, 'organization_id' | 'id' | 'sealed'>): Sealed =>
  JSON.parse(secrets.open(output.sealed, contextOf(output))) as Sealed;

/** Standard Webhooks 1.0: 24 to 64 random bytes in base64 behind `whsec_`. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
