import { z } from 'zod';
import { findPlatform, platforms } from '../model/platforms.ts';
import { text } from '../../platform/lib/text/bounded-text.ts';

const listMax = 500;

const words = text({ max: 200 })
  .transform((given) => given.normalize('NFC').trim().replaceAll(/\s+/g, ' '))
  .refine((text) => text !== '' && !text.includes('\u0000'), 'must hold a word, and no U+0000');

const PlatformWord = text({ max: 100 })
  .refine((word) => findPlatform(word) !== undefined, `must be one of ${platforms.join(', ')}, or a known alias`)
  .transform((word) => findPlatform(word)!);

const OwnedProduct = z.strictObject({
  vendor: words,
  product: words.optional().describe('Without one: everything of this vendor.'),
});

/** What an organization has and does. Empty in every list: no profile. */
export const Profile = z.strictObject({
  products: z.array(OwnedProduct).max(listMax).default([]),
  platforms: z.array(PlatformWord).max(listMax).default([]),
  sectors: z.array(words).max(listMax).default([]),
  regions: z.array(words).max(listMax).default([]),
  keywords: z.array(words).max(listMax).default([]),
  sweep: z.boolean().default(true).describe('Look for indicators of new items in the own logs.'),
  threshold: z.number().min(0.01).max(1).default(0.5).describe('From this score on an item is relevant.'),
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
    version: z.int().describe('0 while none was set; moves with every change.'),
    rebuilding: z.boolean().describe('Stored relevance still answers for an earlier profile.'),
    updatedAt: z.string().meta({ format: 'date-time' }).nullable(),
  })
  .meta({ id: 'FeedProfile' });
export type StoredProfile = z.infer<typeof StoredProfile>;

export const isEmpty = (profile: Profile): boolean =>
  [profile.products, profile.platforms, profile.sectors, profile.regions, profile.keywords].every(
    (list) => list.length === 0,
  );
