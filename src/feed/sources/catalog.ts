import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { fieldError } from '../../platform/lib/errors.ts';
import { didYouMean } from '../../platform/lib/text/nearest-names.ts';
import { tlps } from '../model/vocabulary.ts';
import { sourceFormats, sourceKinds } from '../formats/registry.ts';

const CatalogEntry = z.object({
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
    .enum(['recorded', 'written', 'none'])
    .describe(
      'What the tests parse: a public copy of the source (`recorded`), a document written in its structure (`written`), or nothing of this source.',
    ),
});
export type CatalogEntry = z.infer<typeof CatalogEntry>;

export const SourceCatalog = z.object({
  sources: z.array(
    z.object({
      name: z.string().describe('The value for `catalogue` of POST /api/feed/sources.'),
      ...CatalogEntry.shape,
    }),
  ),
  sightings: z
    .array(z.object({ kind: z.enum(sourceKinds), urlHint: z.string().describe('Which address `sightings.url` is.') }))
    .describe('The kinds whose sources accept `sightings`.'),
});

const commonDefaults = { tlp: 'CLEAR', sample: 'none', license: 'None stated: copyright of the publisher' };
const Fields = z.strictObject(CatalogEntry.shape).partial();
const CatalogFile = z.array(z.strictObject({ defaults: Fields, sources: z.record(z.string(), Fields) }));

let catalog: Record<string, CatalogEntry> | undefined;

/** Returns the well-known public sources of `catalog.yaml` by catalog name. They are read at the first call, which a start does without. */
export function loadCatalog(): Record<string, CatalogEntry> {
  catalog ??= Object.fromEntries(
    CatalogFile.parse(parse(readFileSync(resolve(import.meta.dirname, 'catalog.yaml'), 'utf8'))).flatMap((group) =>
      Object.entries(group.sources).map(([name, fields]) => [
        name,
        CatalogEntry.parse({ ...commonDefaults, ...group.defaults, ...fields }),
      ]),
    ),
  );
  return catalog;
}

/** Throws a 400 if the catalog has no source of that name. */
export function findCatalogSource(name: string): CatalogEntry {
  const sources = loadCatalog();
  const entry = Object.hasOwn(sources, name) ? sources[name] : undefined;
  if (entry) return entry;
  const shown = name.slice(0, 100);
  const detail = `The catalog has no source "${shown}"${didYouMean(shown, Object.keys(sources))}`;
  throw fieldError('/catalogue', 'unknown', detail);
}

export const listCatalog = (): z.infer<typeof SourceCatalog> => ({
  sources: Object.entries(loadCatalog()).map(([name, entry]) => ({ name, ...entry })),
  sightings: sourceKinds.flatMap((kind) => {
    const target = sourceFormats[kind].sightings;
    return target ? [{ kind, urlHint: target.urlHint }] : [];
  }),
});
