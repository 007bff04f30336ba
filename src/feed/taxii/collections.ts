/** The collections that have a manifest of their own. `indicators` is a part of `all`. */
export type ManifestCollection = 'all' | 'relevant';

export type TaxiiCollection = {
  id: string;
  alias: string;
  title: string;
  description: string;
  manifest: ManifestCollection;
  /** Restricts the collection to objects of this type. */
  objectType?: string;
};

/** The standard requires UUIDs of version 4 as ids, so these are fixed. The alias may be used in their place. */
export const collections: TaxiiCollection[] = [
  {
    id: '6f3d2a54-1c1e-4b9c-9d0a-3a6b1c5e7f01',
    alias: 'all',
    title: 'All',
    description: 'Everything that the organization sees.',
    manifest: 'all',
  },
  {
    id: '6f3d2a54-1c1e-4b9c-9d0a-3a6b1c5e7f02',
    alias: 'relevant',
    title: 'Relevant',
    description:
      'Items that are relevant to the organization, dated when they became relevant. Without a relevance profile, everything.',
    manifest: 'relevant',
  },
  {
    id: '6f3d2a54-1c1e-4b9c-9d0a-3a6b1c5e7f03',
    alias: 'indicators',
    title: 'Indicators',
    description: 'The indicators of everything that the organization sees.',
    manifest: 'all',
    objectType: 'indicator',
  },
];

export const findCollection = (idOrAlias: string): TaxiiCollection | undefined =>
  collections.find(({ id, alias }) => id === idOrAlias.toLowerCase() || alias === idOrAlias);
