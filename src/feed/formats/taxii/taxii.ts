import type { SourceFormat } from '../source-format.ts';
import { fetchTaxii } from './fetch-taxii.ts';
import { digestTaxiiPage } from './page-digest.ts';
import { buildDrafts } from '../read-parts.ts';
import { draftStix } from '../stix/stix.ts';

/** A TAXII 2.1 server: discovery, an API root or a collection. Each ungrouped indicator is its own item, so that it can change independently. */
export const taxii: SourceFormat = {
  label: 'TAXII 2.1 server',
  defaults: { reliability: 0.6, schedule: '0 * * * *' },
  fetch: fetchTaxii,
  digest: ([page]) => digestTaxiiPage(page!),
  parse: (parts, context) => buildDrafts(draftStix(parts, context, 'each')),
  draft: (parts, context) => draftStix(parts, context, 'each'),
};
