import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { levels } from '../sigma/rules/rule.ts';

const dateTime = z.string().meta({ format: 'date-time' });

const statuses = ['stable', 'test', 'experimental', 'deprecated', 'unsupported'] as const;

/** Release packages of SigmaHQ by name, with what they hold (https://github.com/SigmaHQ/sigma/blob/master/Releases.md). */
export const rulePackages = [
  { name: 'core', title: 'SigmaHQ core', description: 'Levels high and critical, of status stable and test.' },
  { name: 'core+', title: 'SigmaHQ core+', description: 'Core, and rules of level medium.' },
  { name: 'core++', title: 'SigmaHQ core++', description: 'Core+, and rules of status experimental.' },
  {
    name: 'emerging_threats_addon',
    title: 'SigmaHQ emerging threats',
    description: 'Rules against current campaigns and exploits, beside a core package.',
  },
  { name: 'all_rules', title: 'SigmaHQ all rules', description: 'Every rule of SigmaHQ, also of low levels.' },
].map(({ name, ...more }) => ({ url: `sigmahq:${name}`, ...more }));

const namedAddresses: ReadonlyMap<string, string> = new Map(
  rulePackages.map(({ url }) => [
    url,
    `https://github.com/SigmaHQ/sigma/releases/latest/download/sigma_${url.slice('sigmahq:'.length)}.zip`,
  ]),
);

/** Returns the address of a rule source, which may have the name of a known one. */
export const toAddress = (url: string): string => namedAddresses.get(url) ?? url;

function isFetchable(text: string): boolean {
  const url = URL.parse(toAddress(text));
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

const Address = boundedString({ min: 1, max: 2000 })
  .refine(
    isFetchable,
    `must be an http or https address without a password, or one of ${[...namedAddresses.keys()].join(', ')}`,
  )
  .describe(
    `Address of a zip archive, a tar.gz archive or a YAML file with Sigma rules, or the name of a release package of SigmaHQ: ${[...namedAddresses.keys()].map((name) => `\`${name}\``).join(', ')}.`,
  );

const settings = {
  name: boundedString({ min: 1, max: 100 }),
  url: Address,
  minLevel: z.enum(levels).describe('Rules of lower levels are left out. A rule without a level is `medium`.'),
  statuses: z
    .array(z.enum(statuses))
    .min(1)
    .max(statuses.length)
    .describe('Rules of another status are left out. A rule without a status is `test`.'),
  enabled: z.boolean().describe('Whether the address is checked now and then once a day.'),
};

export const RuleSourceInput = z.strictObject({
  ...settings,
  minLevel: settings.minLevel.default('medium'),
  statuses: settings.statuses.default(['stable', 'test']),
  enabled: settings.enabled.default(true),
});
export type RuleSourceInput = z.infer<typeof RuleSourceInput>;

export const ChangeRuleSource = z.strictObject(settings).partial();
export type ChangeRuleSource = z.infer<typeof ChangeRuleSource>;

const Version = z
  .string()
  .regex(/^[0-9a-f]{12}$/)
  .describe('The first 12 hexadecimal digits of the SHA-256 of the archive.');

export const RuleSource = z
  .object({
    id: z.uuid(),
    ...settings,
    version: Version.nullable().describe('The version whose rules were imported last.'),
    appliedAt: dateTime.nullable(),
    available: Version.nullable().describe(
      'The newest version that was fetched. An update can be applied if it differs from `version`.',
    ),
    availableAt: dateTime.nullable(),
    checkedAt: dateTime.nullable(),
    failure: z.string().nullable().describe('Why the last check failed.'),
    rules: z.int().describe('Number of existing detections of this source.'),
    createdAt: dateTime,
    updatedAt: dateTime,
  })
  .meta({ id: 'RuleSource' });
export type RuleSource = z.infer<typeof RuleSource>;

export const RuleSourceList = z.object({
  ruleSources: z.array(RuleSource),
  packages: z
    .array(z.object({ url: z.string(), title: z.string(), description: z.string() }))
    .describe('Release packages of SigmaHQ that `url` can name.'),
});
export type RuleSourceList = z.infer<typeof RuleSourceList>;

export const RuleSourcePath = z.strictObject({ id: z.uuid() });

const RuleChange = z
  .object({
    ruleId: z.string(),
    name: z.string(),
    level: z.enum(levels),
    dataset: z.string().nullable(),
    detectionId: z.uuid().nullable(),
    matches24h: z
      .int()
      .nullable()
      .describe('How many events of the last 24 hours match. Null: unknown, as for correlations, or more than 10,000.'),
  })
  .meta({ id: 'RuleChange' });

const Count = z.int().nonnegative();

export const RuleUpdate = z
  .object({
    version: Version,
    created: z.array(RuleChange).describe('Rules that become detections, those with the most matches first.'),
    updated: z.array(RuleChange),
    removed: z
      .array(RuleChange.omit({ level: true, dataset: true, matches24h: true }))
      .describe('Detections whose rules the version does not have.'),
    unchanged: Count,
    leftOut: z.object({
      byLevel: Count,
      byStatus: Count,
      notConverted: Count,
      withoutLogs: Count.describe(
        'Rules of log sources for which there is no dataset. A later check imports them when there is one.',
      ),
      missingLogs: z
        .array(z.object({ logSource: z.string(), rules: Count }))
        .describe('The log sources that would add the most rules.'),
    }),
  })
  .meta({ id: 'RuleUpdate' });
export type RuleUpdate = z.infer<typeof RuleUpdate>;
export type RuleChange = z.infer<typeof RuleChange>;

export const ApplyUpdate = z.strictObject({
  version: Version.describe('The version that was reviewed. The request fails if there is a newer one.'),
  removeMissing: z.boolean().optional().describe('true: delete the detections of `removed`. They can be restored.'),
});
export type ApplyUpdate = z.infer<typeof ApplyUpdate>;

export const AppliedUpdate = z
  .object({
    version: Version,
    created: Count,
    updated: Count,
    removed: Count,
    failed: z.array(z.object({ ruleId: z.string(), name: z.string(), detail: z.string() })),
  })
  .meta({ id: 'AppliedRuleUpdate' });
export type AppliedUpdate = z.infer<typeof AppliedUpdate>;
