import { z } from 'zod';
import { findPlatform, platforms } from '../model/platforms.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';

const listMax = 500;

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

/** The relevance profile of an organization. A profile whose lists are all empty counts as none. */
export const Profile = z.strictObject({
  products: z.array(OwnedProduct).max(listMax).default([]),
  platforms: z.array(PlatformWord).max(listMax).default([]),
  sectors: z.array(Words).max(listMax).default([]),
  regions: z.array(Words).max(listMax).default([]),
  keywords: z.array(Words).max(listMax).default([]),
  sweep: z.boolean().default(true).describe('Search the logs of the organization for indicators of new items.'),
  threshold: z.number().min(0.01).max(1).default(0.5).describe('The score from which an item is relevant.'),
});
export type Profile = z.infer<typeof Profile>;

export const StoredProfile = z
  .object({
    products: z.array(z.object({ vendor: z.string(), product: z.string().optional() })),
    platforms: z.array(z.enum(platforms)),
    sectors: z.array(z.string()),
    regions: z.array(z.string()),
    keywords: z.array(z.string()),
    sweep: z.boolean(),
    threshold: z.number(),
    version: z.int().describe('0 if no profile was ever set. Increases with every change.'),
    rebuilding: z.boolean().describe('Relevance still follows an earlier version of the profile.'),
    updatedAt: z.string().meta({ format: 'date-time' }).nullable(),
  })
  .meta({ id: 'FeedProfile' });
export type StoredProfile = z.infer<typeof StoredProfile>;

export const isEmptyProfile = (profile: Profile): boolean =>
  [profile.products, profile.platforms, profile.sectors, profile.regions, profile.keywords].every(
    (list) => list.length === 0,
  );
