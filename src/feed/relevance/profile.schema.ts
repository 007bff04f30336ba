import { z } from 'zod';
import { findPlatform, platforms } from '../model/platforms.ts';
import { TimeZone } from '../../platform/lib/schema-parts.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';

const listMax = 500;
// Every item is compared with every entry.
const requirementsMax = 50;
const requirementListMax = 20;

const Words = boundedString({ max: 200 })
  .transform((text) => text.normalize('NFC').trim().replaceAll(/\s+/g, ' '))
  .refine((text) => text !== '' && !text.includes('\u0000'), 'must contain a word and no U+0000');

const PlatformWord = boundedString({ max: 100 })
  .refine((word) => findPlatform(word) !== undefined, `must be one of ${platforms.join(', ')}, or a known alias`)
  .transform((word) => findPlatform(word)!);

const OwnedProduct = z.strictObject({
  vendor: Words,
  product: Words.optional().describe('If absent, all products of the vendor.'),
});

const criteria = (max: number) => ({
  products: z.array(OwnedProduct).max(max).default([]),
  platforms: z.array(PlatformWord).max(max).default([]),
  sectors: z.array(Words).max(max).default([]),
  regions: z.array(Words).max(max).default([]),
  keywords: z.array(Words).max(max).default([]),
});

const Requirement = z
  .strictObject({
    name: Words.describe('The question, such as `ransomware against hospitals in the Nordics`.'),
    ...criteria(requirementListMax),
    names: z
      .array(Words)
      .max(requirementListMax)
      .default([])
      .describe('Actors, malware and tools, by name, alias or ATT&CK id.'),
    techniques: z
      .array(
        boundedString({ max: 20 })
          .regex(/^T\d{4}(?:\.\d{3})?$/i, 'must look like T1059 or T1059.001')
          .toUpperCase(),
      )
      .max(requirementListMax)
      .default([])
      .describe('ATT&CK ids. A technique stands for its sub-techniques as well.'),
    values: z.array(Words).max(requirementListMax).default([]).describe('Indicators in any notation, and CVE ids.'),
  })
  .refine(
    ({ name: _name, ...lists }) => Object.values(lists).some((list) => list.length > 0),
    'needs a list that is not empty',
  );
export type Requirement = z.infer<typeof Requirement>;

/** The form in which names of requirements are compared. */
export const foldRequirement = (name: string): string => name.normalize('NFC').trim().toLowerCase();

const areNamesUnique = (requirements: readonly Requirement[]): boolean =>
  new Set(requirements.map(({ name }) => foldRequirement(name))).size === requirements.length;

/** The relevance profile of an organization. A profile whose lists are all empty counts as none. */
export const Profile = z.strictObject({
  ...criteria(listMax),
  requirements: z
    .array(Requirement)
    .max(requirementsMax)
    .refine(areNamesUnique, 'must have different names')
    .default([])
    .describe('Standing questions. An item that meets one is relevant, whatever its score.'),
  sweep: z.boolean().default(true).describe('Search the logs of the organization for indicators of new items.'),
  threshold: z.number().min(0.01).max(1).default(0.5).describe('The score from which an item is relevant.'),
  timeZone: TimeZone.default('UTC').describe('IANA time zone in which the weeks of the digest begin.'),
});
export type Profile = z.infer<typeof Profile>;

const storedCriteria = {
  products: z.array(z.object({ vendor: z.string(), product: z.string().optional() })),
  platforms: z.array(z.enum(platforms)),
  sectors: z.array(z.string()),
  regions: z.array(z.string()),
  keywords: z.array(z.string()),
};

export const StoredProfile = z
  .object({
    ...storedCriteria,
    requirements: z
      .array(
        z.object({
          name: z.string(),
          ...storedCriteria,
          names: z.array(z.string()),
          techniques: z.array(z.string()),
          values: z.array(z.string()),
        }),
      )
      .describe('An item meets one if it has an entry of each list that is not empty.'),
    sweep: z.boolean(),
    threshold: z.number(),
    timeZone: z.string(),
    version: z.int().describe('0 if no profile was ever set. Increases with every change.'),
    rebuilding: z.boolean().describe('Relevance still follows an earlier version of the profile.'),
    updatedAt: z.string().meta({ format: 'date-time' }).nullable(),
  })
  .meta({ id: 'FeedProfile' });
export type StoredProfile = z.infer<typeof StoredProfile>;

export const isEmptyProfile = (profile: Profile): boolean =>
  [profile.products, profile.platforms, profile.sectors, profile.regions, profile.keywords, profile.requirements].every(
    (list) => list.length === 0,
  );
