import type { SourceFormat } from '../record.ts';
import { csaf } from './csaf.ts';
import { csv } from './csv.ts';
import { kev } from './kev.ts';
import { misp } from './misp.ts';
import { nvd } from './nvd.ts';
import { osv } from './osv.ts';
import { rss } from './rss.ts';
import { stix } from './stix.ts';
import { taxii } from './taxii.ts';

/** Every kind of source. A new one is its file and a line here; the API's list of kinds comes from the keys. */
export const sourceFormats = { kev, stix, taxii, misp, csaf, osv, nvd, rss, csv } satisfies Record<
  string,
  SourceFormat
>;

export type SourceKind = keyof typeof sourceFormats;

export const sourceKinds = Object.keys(sourceFormats) as [SourceKind, ...SourceKind[]];
