import { z } from 'zod';
import { fieldError } from '../../../platform/lib/errors.ts';
import { didYouMean } from '../../../platform/lib/text/nearest-names.ts';
import { tlps } from '../../model/vocabulary.ts';
import { sourceKinds } from '../../formats/registry.ts';
import { authoritySources } from './authority-sources.ts';
import { sampleKinds, type CatalogEntry } from './catalog-entry.ts';
import { indicatorSources } from './indicator-sources.ts';
import { newsSources } from './news-sources.ts';
import { vendorSources } from './vendor-sources.ts';
import { vulnerabilitySources } from './vulnerability-sources.ts';

/** Well-known public sources, by catalog name. Only facts about the sources; none of their content is included. */
export const sourceCatalog: Record<string, CatalogEntry> = {
  ...vulnerabilitySources,
  ...authoritySources,
  ...indicatorSources,
  ...vendorSources,
  ...newsSources,
};

/** Throws a 400 if the catalog has no source of that name. */
export function findCatalogSource(name: string): CatalogEntry {
  const entry = Object.hasOwn(sourceCatalog, name) ? sourceCatalog[name] : undefined;
  if (entry) return entry;
  const shown = name.slice(0, 100);
  const detail = `The catalog has no source "${shown}"${didYouMean(shown, Object.keys(sourceCatalog))}`;
  throw fieldError('/catalogue', 'unknown', detail);
}

export const SourceCatalog = z.object({
  sources: z.array(
    z.object({
      name: z.string().describe('The value for `catalogue` of POST /api/feed/sources.'),
      title: z.string(),
      kind: z.enum(sourceKinds),
      url: z.string(),
      publisher: z.string(),
      brings: z.string().describe('What the source adds to the feed.'),
      schedule: z.string().describe('Cron expression in UTC, as often as the source changes.'),
      license: z.string().describe('The license, or a note about the terms of use.'),
      tlp: z.enum(tlps),
      reliability: z.number(),
      sample: z
        .enum(sampleKinds)
        .describe(
          'What the tests parse: a public copy of the source (`recorded`), a document written in its structure (`written`), or nothing of this source.',
        ),
    }),
  ),
});

export const listCatalog = (): z.infer<typeof SourceCatalog> => ({
  sources: Object.entries(sourceCatalog).map(([name, known]) => ({ name, ...known })),
});
