/** Collections of which objects are listed; `indicators` shows a part of `all`. */
export type Listed = 'all' | 'relevant';

export type Collection = {
  id: string;
  alias: string;
  title: string;
  description: string;
  listed: Listed;
  /** Only objects of this type. */
  only?: string;
};

/** Ids are fixed UUIDs of version 4, as the standard asks for; `alias` works in their place. */
export const collections: Collection[] = [
  {
    id: '6f3d2a54-1c1e-4b9c-9d0a-3a6b1c5e7f01',
    alias: 'all',
    title: 'All',
    description: 'Everything that the organization sees.',
    listed: 'all',
  },
  {
    id: '6f3d2a54-1c1e-4b9c-9d0a-3a6b1c5e7f02',
    alias: 'relevant',
    title: 'Relevant',
    description:
      "What is relevant by the organization's profile, dated when it became so; without a profile, everything.",
    listed: 'relevant',
  },
  {
    id: '6f3d2a54-1c1e-4b9c-9d0a-3a6b1c5e7f03',
    alias: 'indicators',
    title: 'Indicators',
    description: 'The indicators of everything that the organization sees.',
    listed: 'all',
    only: 'indicator',
  },
];

export const findCollection = (name: string): Collection | undefined =>
  collections.find(({ id, alias }) => id === name.toLowerCase() || alias === name);
