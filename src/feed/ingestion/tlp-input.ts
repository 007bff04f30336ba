import { z } from 'zod';
import { tlps, type Tlp } from '../model/vocabulary.ts';

/** A TLP marking of a request: TLP 2.0, `WHITE` of TLP 1.0, or the spelling `AMBER_STRICT`. */
export const TlpInput = z.enum([...tlps, 'WHITE', 'AMBER_STRICT']);

/** Returns the TLP 2.0 marking that is stored. */
export function toStoredTlp(tlp: z.infer<typeof TlpInput>): Tlp {
  if (tlp === 'WHITE') return 'CLEAR';
  return tlp === 'AMBER_STRICT' ? 'AMBER+STRICT' : tlp;
}
