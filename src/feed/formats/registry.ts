import type { SourceFormat } from './source-format.ts';
import { csaf } from './csaf/csaf.ts';
import { csv } from './csv/csv.ts';
import { epss } from './epss.ts';
import { kev } from './kev.ts';
import { misp } from './misp/misp.ts';
import { nvd } from './nvd/nvd.ts';
import { osv } from './osv/osv.ts';
import { rss } from './rss/rss.ts';
import { stix } from './stix/stix.ts';
import { taxii } from './taxii/taxii.ts';

const formats = { kev, epss, stix, taxii, misp, csaf, osv, nvd, rss, csv } satisfies Record<string, SourceFormat>;

export type SourceKind = keyof typeof formats;

/** Every kind of source. A new one is its file and a line here; the API's list of kinds comes from the keys. */
export const sourceFormats: Record<SourceKind, SourceFormat> = formats;

export const sourceKinds = Object.keys(sourceFormats) as [SourceKind, ...SourceKind[]];
