import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { FieldDiff } from '../managed/file-fields.ts';

const filesMax = 1000;

export const packName = /^[a-z0-9][a-z0-9._-]{0,99}$/;
export const packFile = /^[^\s/\\][^/\\]{0,199}\.ya?ml$/i;

export const PackPath = z.object({
  id: z.uuid(),
  pack: z.string().regex(packName, 'must consist of lower-case letters, digits, dots and hyphens'),
});

export const ApplyPack = z.strictObject({
  version: boundedString({ min: 1, max: 100 }).describe('Version of the pack, which the drift report shows.'),
  detections: z
    .record(z.string().regex(packFile, 'is not the name of a .yaml file'), z.record(z.string(), z.unknown()))
    .refine((files) => Object.keys(files).length <= filesMax, `must have at most ${filesMax} detections`)
    .describe(
      'The detections by file name, with the fields of a detection file, overrides of this organization included.',
    ),
  dryRun: z.boolean().optional().describe('true: report the results without changing anything.'),
  force: z
    .boolean()
    .optional()
    .describe('true: replace what the organization changed, and create again what it deleted.'),
  prune: z.boolean().optional().describe('true: delete the detections of the pack whose file it no longer has.'),
});
export type ApplyPack = z.infer<typeof ApplyPack>;

export const packStates = ['unchanged', 'outdated', 'changed', 'missing', 'deleted', 'extra'] as const;

export const PackDetection = z
  .object({
    file: z.string(),
    detectionId: z.string().nullable(),
    state: z
      .enum(packStates)
      .describe(
        'Before: as in the pack; `outdated`: as the pack was; `changed` by the organization; `missing`: never created; `deleted` by the organization; `extra`: no longer in the pack.',
      ),
    outcome: z.enum(['none', 'created', 'updated', 'deleted', 'failed']),
    changes: z.array(FieldDiff).describe('What the pack changes in the detection.'),
    kept: z
      .array(FieldDiff)
      .describe('What the organization changed: `before` in the pack, `after` in the organization.'),
    detail: z.string().nullable().describe('Why it failed, or why it was left alone.'),
  })
  .meta({ id: 'PackDetection' });
export type PackDetection = z.infer<typeof PackDetection>;

export const DetectionPack = z
  .object({
    name: z.string(),
    version: z.string().describe('Version of the pack that was applied last.'),
    file: z.string(),
    appliedAt: z.string().describe('When the pack changed the detection last.'),
    changes: z
      .array(FieldDiff)
      .describe(
        'What the organization changed since, which the next version keeps: `before` in the pack, `after` in the organization.',
      ),
  })
  .describe('The pack that a detection comes from.')
  .meta({ id: 'DetectionPack' });
export type DetectionPack = z.infer<typeof DetectionPack>;

export const DetectionPackResult = z.object({ pack: DetectionPack.nullable().describe('Null: from no pack.') });

export const PackResult = z.object({
  organization: z.string(),
  pack: z.string(),
  version: z.string(),
  dryRun: z.boolean(),
  results: z.array(PackDetection),
});
export type PackResult = z.infer<typeof PackResult>;
