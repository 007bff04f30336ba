// A test reads this file, so it avoids api/relevance.ts, whose imports declare the globals of React.
import type { components, paths } from '../../../api/schema.d.ts';

type Profile = components['schemas']['FeedProfile'];
type ProfileInput = NonNullable<paths['/api/feed/profile']['put']['requestBody']>['content']['application/json'];

export type Requirement = Profile['requirements'][number];

/** What a profile and a requirement list, as it is typed. */
type ListsDraft = { products: string; platforms: string[]; sectors: string; regions: string; keywords: string };

/** The profile as it is typed. Requirements have a form of their own. */
export type ProfileDraft = ListsDraft & {
  requirements: Requirement[];
  threshold: number;
  timeZone: string;
  sweep: boolean;
};

export type RequirementDraft = ListsDraft & { name: string; names: string; techniques: string; values: string };

const toListsDraft = ({ products, platforms, sectors, regions, keywords }: Profile | Requirement): ListsDraft => ({
  products: products.map(({ vendor, product }) => (product ? `${vendor}: ${product}` : vendor)).join('\n'),
  platforms,
  sectors: sectors.join(', '),
  regions: regions.join(', '),
  keywords: keywords.join(', '),
});

export const toDraft = (profile: Profile): ProfileDraft => ({
  ...toListsDraft(profile),
  requirements: profile.requirements,
  threshold: Math.round(profile.threshold * 100),
  timeZone: profile.timeZone,
  sweep: profile.sweep,
});

export const toRequirementDraft = (requirement: Requirement): RequirementDraft => ({
  ...toListsDraft(requirement),
  name: requirement.name,
  names: requirement.names.join(', '),
  techniques: requirement.techniques.join(', '),
  values: requirement.values.join('\n'),
});

export const emptyRequirement: RequirementDraft = {
  name: '',
  products: '',
  platforms: [],
  sectors: '',
  regions: '',
  keywords: '',
  names: '',
  techniques: '',
  values: '',
};

const listWords = (text: string, separator: RegExp): string[] =>
  text
    .split(separator)
    .map((word) => word.trim())
    .filter((word) => word !== '');

/** Splits at the first colon: the vendor, and the product if one follows. */
function toProduct(line: string): { vendor: string; product?: string } {
  const [vendor = '', ...rest] = line.split(':');
  const product = rest.join(':').trim();
  return { vendor: vendor.trim(), ...(product && { product }) };
}

const fromListsDraft = ({ products, platforms, sectors, regions, keywords }: ListsDraft) => ({
  products: listWords(products, /\n/).map(toProduct),
  platforms,
  sectors: listWords(sectors, /[,\n]/),
  regions: listWords(regions, /[,\n]/),
  keywords: listWords(keywords, /[,\n]/),
});

export const fromDraft = (draft: ProfileDraft): ProfileInput => ({
  ...fromListsDraft(draft),
  requirements: draft.requirements,
  threshold: draft.threshold / 100,
  timeZone: draft.timeZone,
  sweep: draft.sweep,
});

export const fromRequirementDraft = (draft: RequirementDraft) => ({
  ...fromListsDraft(draft),
  name: draft.name,
  names: listWords(draft.names, /[,\n]/),
  techniques: listWords(draft.techniques, /[,\n]/),
  values: listWords(draft.values, /\n/),
});
