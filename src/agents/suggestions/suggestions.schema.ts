import { z } from 'zod';
import { detectionCategories } from '../../detection/analysis/candidate.ts';
import { cadences, Estimate, Warning } from '../../detection/detections/record/detection.schema.ts';
import { TestCase } from '../../detection/detections/test-cases/test-cases.schema.ts';
import { text } from '../../platform/lib/text/bounded-text.ts';
import { bases } from './draft.ts';

export const GenerateRequest = z.strictObject({
  intent: text({ min: 1, max: 4000 }).describe('What is to be detected, in words; ATT&CK ids and names help.'),
  siemType: z.string().nullable().optional(),
  toolNames: z.array(z.string()).nullable().optional(),
});
export type GenerateRequest = z.infer<typeof GenerateRequest>;

/** Nothing of it is stored; the fields of a detection can be sent to POST /api/detections. */
export const Generated = z
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
        kind: z.enum(bases),
        id: z.string().describe('Of the shipped detection or query template, or the model.'),
        matched: z.array(z.string()).describe('Techniques and words of the intent that it was chosen by.'),
      })
      .describe('What it was made from.'),
    estimate: Estimate,
    warnings: z.array(Warning),
    tokens: z.number(),
    costUsd: z.number(),
  })
  .meta({ id: 'GeneratedDetection' });
export type Generated = z.infer<typeof Generated>;
