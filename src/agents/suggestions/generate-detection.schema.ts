import { z } from 'zod';
import { CostUsd } from '../../platform/lib/schema-parts.ts';
import { detectionCategories } from '../../detection/analysis/registry.ts';
import { Estimate, Warning } from '../../detection/detections/record/detection.schema.ts';
import { cadences } from '../../detection/detections/record/field-schemas.ts';
import { TestCase } from '../../detection/detections/test-cases.schema.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { Alternative } from '../../platform/http/responses/problem.ts';
import { draftBases } from './draft.ts';

export const GenerateRequest = z.strictObject({
  intent: boundedString({ min: 1, max: 4000 }).describe(
    'What to detect, in plain words. ATT&CK technique IDs and names help.',
  ),
  siemType: z.string().nullable().optional(),
  toolNames: z.array(z.string()).nullable().optional(),
});
export type GenerateRequest = z.infer<typeof GenerateRequest>;

/** A generated detection, not stored. Its detection fields can be sent to `POST /api/detections`. */
export const GeneratedDetection = z
  .object({
    steps: z.array(z.string()),
    name: z.string(),
    description: z.string(),
    detectionCategory: z.enum(detectionCategories),
    systemPrompt: z.string(),
    detectionQuery: z.string(),
    detectionCadence: z.enum(cadences),
    entityField: z.string(),
    siemType: z.string().nullable(),
    toolNames: z.array(z.string()),
    tags: z.array(z.string()),
    tests: z.array(TestCase),
    technique: z.string().nullable(),
    basedOn: z
      .object({
        kind: z.enum(draftBases),
        id: z.string().describe('The ID of the shipped detection or query template, or the name of the model.'),
        matched: z.array(z.string()).describe('The techniques and words of the intent that matched.'),
      })
      .describe('The source of the detection.'),
    nearest: z
      .array(Alternative)
      .describe('Other shipped detections and query templates that come close to the intent, best first.'),
    repairs: z.array(z.string()).describe("The problems of the model's earlier drafts, oldest first."),
    estimate: Estimate,
    warnings: z.array(Warning),
    tokens: z.number(),
    costUsd: CostUsd,
  })
  .meta({ id: 'GeneratedDetection' });
export type GeneratedDetection = z.infer<typeof GeneratedDetection>;
